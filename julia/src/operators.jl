# Functions as operators of symbolic graphs: libmxnet has arrays for the results already, and their shapes were inferred.

function run_operator(b::Block)
    _release()
    p = PREPARED[Int(b[H_FUNCTION])]
    target = checked_target(p)
    b[H_STATUS] == 0 || _value_error(p.name, ": an argument or a result has a storage or element type that cannot be shared with Julia")
    n, m = Int(b[H_INPUTS]), Int(b[H_OUTPUTS])
    # Not pinned: it is the graph that keeps them, until the backward has run.
    xs = ntuple(i -> array(descriptor(b, i)), n)
    outs = ntuple(j -> array(descriptor(b, n + j)), m)
    reqs = ntuple(j -> req(descriptor(b, n + j)), m)
    arguments = map(x -> argument(p, target, x), xs)
    before = _before(b, xs)
    saved = try
        _operate(p, target, arguments, outs, reqs)
    finally
        foreach(done_with, arguments)
    end
    slots = _in_order(n)
    _check_unwritten(p, before, xs, slots)
    add_node!(Int(b[H_NODE]), Node(p, saved, slots, n, 0))
    return nothing
end

"Run the call into the arrays of its results; returns what its backward needs."
function _operate(p::Prepared, target, arguments, outs, reqs)
    call = begin_call(p, target, p.keywords, arguments)
    if call isa CustomFunction && _has_inplace(forward!, call, arguments)
        _operate_inplace(p, call, arguments, outs, reqs)
        return call
    end
    y, saved = run_call(p, call, arguments, p.keywords, true)
    _write_results(p, y isa Tuple ? y : (y,), outs, reqs)
    return saved
end

function _operate_inplace(p::Prepared, f, arguments, outs, reqs)
    own = map((o, r) -> r == REQ_NULL || r == REQ_ADD ? similar(o) : o, outs, reqs)
    laid = map(o -> _laid_out(o, p.python), own)
    spec = Base.invokelatest(outputspec, f, arguments...)
    _fit(p, map(s -> (Tuple(s[1]), s[2]), _specs(p, spec)), outs, "outputspec gives")
    Base.invokelatest(forward!, spec isa Tuple{Tuple,Type} ? laid[1] : laid, f, arguments...)
    foreach((o, w, r) -> r == REQ_ADD && (o .+= w), outs, own, reqs)
    return nothing
end

"Check every result, then write them all."
function _write_results(p::Prepared, ys::Tuple, outs, reqs)
    ys = map(plain, ys)
    _fit(p, map(y -> _spec(p, y), ys), outs, "forward returned")
    for (y, o, r) in zip(ys, outs, reqs)
        r == REQ_NULL && continue
        y isa Number && (y = fill(y, p.python ? reverse(size(o)) : size(o)))
        _store!(o, _laid_out(y, p.python), r == REQ_ADD)
        _count_copy(sizeof(o))
    end
    return nothing
end

function _fit(p::Prepared, specs, outs, who)
    length(specs) == length(outs) || _value_error(
        p.name, ": ", who, " ", length(specs), " results, the block was made with outputs=", length(outs))
    for (i, (spec, o)) in enumerate(zip(specs, outs))
        expected = p.python ? reverse(size(o)) : size(o)
        # A number is `()` among mx.np arrays, and `(1,)` among others.
        (spec[1] == expected || length(o) == 1 == prod(spec[1])) && spec[2] == eltype(o) || _value_error(
            p.name, ": ", who, " result ", i, " of size ", spec[1], " and element type ", spec[2], ", but in the graph it has ",
            expected, " and ", eltype(o), ": let PyBridge.outputspec say what forward returns")
    end
    return nothing
end
