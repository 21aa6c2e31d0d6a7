# Runs test files in the bridge's process, for tests/test_julia_package.py.

module TestReport

using Test

"""
    report(file) -> (passed, text)

Include one test file in a module of its own. `text` is what Julia says of it, stack traces and summary included;
nothing reaches the process's own output.
"""
function report(file)
    path, io = mktemp()
    passed = redirected(io) do
        space = Core.eval(Main, Expr(:module, true, gensym(basename(file)), Expr(:block)))
        Base.include(space, joinpath(@__DIR__, "common.jl"))
        try
            @testset "$(basename(file))" begin
                Base.include(space, file)
            end
            return true
        catch e
            e isa Test.TestSetException || showerror(stdout, e, catch_backtrace())
            return false
        end
    end
    close(io)
    text = read(path, String)
    rm(path)
    return passed, text
end

"Run `f` while Julia's standard output and error go to the file `io`."
function redirected(f, io)
    out, err = stdout, stderr
    redirect_stdout(io)
    redirect_stderr(io)
    try
        return f()
    finally
        flush(stdout)
        redirect_stdout(out)
        redirect_stderr(err)
    end
end

end
