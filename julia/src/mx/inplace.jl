# x += y into the memory of x.

export @inplace

const INPLACE = Dict(
    :+= => :add_to!, :.+= => :add_to!, :-= => :sub_from!, :.-= => :sub_from!,
    :.*= => :mul_to!, :./= => :div_from!, :.%= => :mod_from!)

"""
    @inplace x += y

Write the result into the memory of the NDArray `x`, where `x += y` makes a new array. For `+=`, `-=`, `.+=`, `.-=`, `.*=`,
`./=` and `.%=`.

```julia
using PyBridge: mx
x = y = mx.ones(3)
mx.@inplace x += 2
copy(y) == [3, 3, 3]
```
"""
macro inplace(ex)
    ex isa Expr && haskey(INPLACE, ex.head) || error("unsupported inplace translation for $ex")
    return Expr(:call, INPLACE[ex.head], esc(ex.args[1]), esc(ex.args[2]))
end
