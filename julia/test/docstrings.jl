# Every public name is documented: the call first, then what it returns and throws, with an example that runs here.

const PUBLIC = (
    (n for n in names(PB) if n !== :PyBridge)...,
    :forward, :backward, :forward!, :backward!, :outputspec, :argkind, :ReadOnlyArray, :Misuse, :dtype_code,
)

"The texts of the docstrings of a module's name, one for each documented method."
function docstrings(name)
    multi = get(Base.Docs.meta(PB), Base.Docs.Binding(PB, name), nothing)
    return multi === nothing ? String[] : [join(d.text) for d in values(multi.docs)]
end

"The examples in a docstring: language, options and code of each fenced block."
examples(text) = [(m[1], m[2], m[3]) for m in eachmatch(r"^```(jldoctest|julia)([^\n]*)\n(.*?)^```$"ms, text)]

"The statements of a doctest, each with what the text says it shows."
function statements(code)
    found = Tuple{String,String}[]
    for part in split(code, r"^julia> "m)[2:end]
        lines = split(part, '\n')
        n = 1   # lines that belong to the statement
        while n < length(lines) && startswith(lines[n+1], "       ")
            n += 1
        end
        statement = join([i == 1 ? l : l[8:end] for (i, l) in enumerate(lines[1:n])], '\n')
        push!(found, (statement, join(lines[n+1:end], '\n')))
    end
    return found
end

"What the REPL would show for a statement."
function shown(space, statement)
    value = try
        Core.eval(space, Meta.parse(statement))
    catch e
        return "ERROR: " * sprint(showerror, e)
    end
    (value === nothing || endswith(rstrip(first(split(statement, " #"))), ';')) && return ""
    io = IOBuffer()
    show(IOContext(io, :module => space, :limit => true), MIME("text/plain"), value)
    return String(take!(io))
end

"Text as it is compared: names of types and spaces differ between versions of Julia."
function squeezed(text)
    text = replace(text, r"\bArray\{(\w+), ?1\}" => s"Vector{\1}")
    text = replace(text, r"\bArray\{(\w+), ?2\}" => s"Matrix{\1}")
    text = replace(text, "ComplexF32" => "Complex{Float32}")
    text = replace(text, r"\bMain\.[^\s(){},]*?\.(?=[A-Z])" => "")
    return join(split(replace(text, r", ?" => ",")), ' ')
end

"A module with nothing in it but what Base exports, and PyBridge."
function fresh()
    space = Core.eval(Main, Expr(:module, true, gensym("Example"), Expr(:block)))
    Core.eval(space, :(using PyBridge))
    return space
end

@testset "the reader of doctests tells statements from what they show" begin
    code = """
    julia> f(x) = begin
               x + 1
           end;

    julia> f(1)   # one more
    2

    julia> f("a")
    ERROR: MethodError
    """
    @test statements(code) ==
        [("f(x) = begin\n    x + 1\nend;", "\n"), ("f(1)   # one more", "2\n\n"), ("f(\"a\")", "ERROR: MethodError\n")]
    space = fresh()
    @test shown(space, "f(x) = x + 1;") == "" && shown(space, "f(1)") == "2" && shown(space, "nothing") == ""
    @test shown(space, "error(\"oh\")") == "ERROR: oh"
    @test squeezed("2-element Array{Float64,1}:\n 1.0") == squeezed("2-element Vector{Float64}:\n 1.0")
    @test squeezed("(1, 2)") != squeezed("(1, 3)")
end

@testset "$name" for name in PUBLIC
    texts = docstrings(name)
    @test !isempty(texts)
    for text in texts
        first_lines = split(rstrip(first(split(text, "\n\n"))), '\n')
        @test all(l -> startswith(l, "    ") && occursin(string(name), l), filter(!isempty, first_lines))
        @test !isempty(examples(text))
        for (language, options, code) in examples(text)
            space = fresh()
            if language == "jldoctest"
                checks = statements(code)
                @test !isempty(checks)
                for (statement, said) in checks
                    got = shown(space, statement)
                    same = startswith(said, "ERROR: ") ? startswith(squeezed(got), squeezed(said)) : squeezed(got) == squeezed(said)
                    same || println(stdout, "in the docstring of ", name, ":\n", statement, "\nshows\n", got, "\nand not\n", said)
                    @test same
                end
            elseif LINKED || !occursin("pyimport", code)
                @test (include_string(space, code); true)
            end
        end
    end
end

@testset "what a docstring refers to is there" begin
    for name in PUBLIC, text in docstrings(name), m in eachmatch(r"\[`([^`]+)`\]\(@ref\)", text)
        target = replace(m[1], "PyBridge." => "")
        @test Symbol(target) in PUBLIC
    end
end
