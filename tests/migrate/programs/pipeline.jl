# A data pipeline: standardized features, one-hot labels, batches, and a metric on Julia arrays.
using MXNet, Statistics, Printf

const CLASSES = ["setosa", "versicolor", "virginica"]

# one line of text for each sample: four features and a name
lines = ["5.1,3.5,1.4,0.2,setosa", "4.9,3.0,1.4,0.2,setosa", "7.0,3.2,4.7,1.4,versicolor",
         "6.4,3.2,4.5,1.5,versicolor", "6.3,3.3,6.0,2.5,virginica", "5.8,2.7,5.1,1.9,virginica"]

function parse_line(line)
  fields = split(line, ",")
  features = [parse(Float32, f) for f in fields[1:end-1]]
  label = findfirst(c -> c == fields[end], CLASSES)
  return features, label
end

function load(lines)
  samples = map(parse_line, lines)
  x = zeros(Float32, 4, length(samples))
  y = zeros(Int, length(samples))
  for (i, (features, label)) in enumerate(samples)
    x[:, i] = features
    y[i] = label
  end
  x, y
end

"Mean zero and deviation one for every feature (a row)."
function standardize(x)
  μ = mean(x, dims=2)
  s = std(x, dims=2)
  (x .- μ) ./ s
end

x, y = load(lines)
x = standardize(x)
println(size(x), " ", join(y, " "))

data = mx.NDArray(x)
onehot = mx.zeros(length(CLASSES), length(y))
@mx.nd_as_jl rw=onehot begin
  for i in 1:length(y)
    onehot[y[i], i] = 1
  end
end
println(join(copy(sum(onehot, dims=2)), " "))

# batches along the last dimension
batch_size = 2
n_batch = length(y) ÷ batch_size
for k in 1:n_batch
  range_ = (k-1)*batch_size+1:k*batch_size
  batch = mx.slice(data, range_)
  @printf("batch %d: %s, sum %.3f\n", k, string(size(batch)), first(sum(batch)))
end

"How often the largest score stands at the label."
function hits(scores, labels)
  n = 0
  @mx.nd_as_jl ro=(scores, labels) begin
    for j in 1:size(scores, 2)
      if argmax(scores[:, j]) == argmax(labels[:, j])
        n += 1
      end
    end
  end
  n
end

scores = onehot .* 2 .- 1
println("hits: ", hits(scores, onehot), " of ", length(y))

counts = Dict{String,Int}()
for label in y
  name = CLASSES[label]
  counts[name] = get(counts, name, 0) + 1
end
for name in sort(collect(keys(counts)))
  println(rpad(name, 12), counts[name])
end
