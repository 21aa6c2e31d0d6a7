# Recorded graphs as symbols.

const mx = PB.mx

"An array that is recorded: tanh(x * w + b) over weights of size (3, 2)."
function recorded()
    x, w, b = mx.ones(3, 4), mx.ones(3, 2), mx.ones(2)
    foreach(mx.attach_grad!, (x, w, b))
    y = mx.record() do
        mx.Activation(mx.FullyConnected(x, w, b; num_hidden = 2), act_type = :tanh)
    end
    return y, (x, w, b)
end

@testset "the symbol of a recorded array" begin
    y, variables = recorded()
    s = mx.symbol(y)
    @test s isa mx.SymbolicNode
    @test length(s) == 1 == lastindex(s)
    @test length(mx.list_arguments(s)) == 3 && eltype(mx.list_arguments(s)) === Symbol
    @test allunique(mx.list_arguments(s))
    @test mx.list_auxiliary_states(s) == Symbol[]
    @test length(mx.list_outputs(s)) == 1
    name = mx.get_name(s)
    @test name isa Symbol && string(mx.list_outputs(s)[1]) == "$(name)_output"
    @test string(typeof(mx.get_name(mx.symbol(variables[1])))) == "Symbol"
    @test occursin("SymbolicNode $name", repr(s))
end

@testset "the graph behind it" begin
    s = mx.symbol(recorded()[1])
    inner = mx.get_internals(s)
    @test length(inner) == length(mx.list_outputs(inner)) == 5       # three variables, two operators
    @test mx.get_name(inner) isa String && occursin("5", mx.get_name(inner))
    @test mx.get_name(inner[5]) == mx.get_name(s)
    @test mx.get_name(inner[end]) == mx.get_name(s)
    @test mx.list_outputs(inner[mx.list_outputs(inner)[4]]) == [mx.list_outputs(inner)[4]]
    child = mx.get_children(s)
    @test mx.list_outputs(child) == [mx.list_outputs(inner)[4]]
    grandchildren = mx.get_children(child)
    @test length(grandchildren) == 3 && mx.list_outputs(grandchildren) == mx.list_arguments(s)
    @test mx.get_children(grandchildren[1]) === nothing
    @test_throws BoundsError inner[6]
    @test_throws BoundsError inner[0]
    @test_throws KeyError inner[:no_such_output]
end

@testset "the graph as text" begin
    s = mx.symbol(recorded()[1])
    @test occursin("FullyConnected", mx.to_json(s)) && occursin("Activation", mx.to_json(s)) && occursin("tanh", mx.to_json(s))
    @test occursin("Op:FullyConnected", sprint(print, s))
end

@testset "auxiliary states" begin
    x, states = mx.ones(3, 2), (mx.ones(3), mx.zeros(3), mx.zeros(3), mx.ones(3))
    foreach(mx.attach_grad!, (x, states[1], states[2]))
    y = mx.record(() -> mx.BatchNorm(x, states...; axis = 1))
    s = mx.symbol(y)
    @test length(mx.list_auxiliary_states(s)) == 2
    @test length(mx.list_arguments(s)) == 3
end

@testset "files" begin
    s = mx.symbol(recorded()[1])
    file = tempname()
    mx.save(file, s)
    again = mx.load(file, mx.SymbolicNode)
    @test mx.list_arguments(again) == mx.list_arguments(s) && mx.to_json(again) == mx.to_json(s)
    python = PB.mx.PythonCall.pyimport("mxnet").sym.load(file)
    @test map(Symbol, PB.mx.PythonCall.pyconvert(Vector{String}, python.list_arguments())) == mx.list_arguments(s)
    rm(file)
    @test_throws mx.MXError mx.load(file, mx.SymbolicNode)
end

@testset "what is not recorded has no symbol; a variable has one" begin
    @test_throws mx.MXError mx.symbol(mx.ones(2))
    x = mx.ones(2)
    mx.attach_grad!(x)
    s = mx.symbol(x)
    @test length(mx.list_arguments(s)) == 1 && mx.get_children(s) === nothing
    y = mx.record(() -> mx.square(x))
    mx.backward!(y, retain_graph = true)
    @test mx.symbol(y) isa mx.SymbolicNode
    mx.backward!(y)
    @test_throws mx.MXError mx.symbol(y)        # the graph is gone
end
