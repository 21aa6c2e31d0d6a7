# A data pipeline: standardized features, one-hot labels, batches, and a metric on Julia arrays.

import numpy as np
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx


CLASSES = ["setosa", "versicolor", "virginica"]

# one line of text for each sample: four features and a name
lines = [
    "5.1,3.5,1.4,0.2,setosa",
    "4.9,3.0,1.4,0.2,setosa",
    "7.0,3.2,4.7,1.4,versicolor",
    "6.4,3.2,4.5,1.5,versicolor",
    "6.3,3.3,6.0,2.5,virginica",
    "5.8,2.7,5.1,1.9,virginica",
]


def parse_line(line):
    fields = line.split(",")
    features = np.array([float(f) for f in fields[:-1]])
    label = next((i_2 for i_2, c in enumerate(CLASSES, 1) if c == fields[-1]), None)
    return features, label


def load(lines):
    samples = [parse_line(line_2) for line_2 in lines]
    x = np.zeros((len(samples), 4), dtype="float32")
    y = np.zeros(len(samples), dtype="int64")
    for i, (features, label) in enumerate(samples):
        x[i] = features
        y[i] = label
    return x, y


def standardize(x):
    """Mean zero and deviation one for every feature (a row)."""
    μ = x.mean(axis=-2, keepdims=True)
    s = np.std(x, axis=-2, ddof=1, keepdims=True)
    return (x - μ) / s


x, y = load(lines)
x = standardize(x)
print(f"{x.shape[::-1]} {' '.join(map(str, y))}")

data = mx.nd.array(x, dtype=x.dtype)
onehot = mx.nd.zeros((len(y), len(CLASSES)))
onehot_np = onehot.asnumpy()
for i in range(len(y)):
    onehot_np[i, y[i] - 1] = 1
onehot[:] = onehot_np
print(" ".join(map(str, onehot.sum(axis=-2, keepdims=True).asnumpy().flat)))

# batches along the last dimension
batch_size = 2
n_batch = len(y) // batch_size
for k in range(1, n_batch + 1):
    range_ = range((k - 1) * batch_size + 1, k * batch_size + 1)
    batch = data[range_.start - 1 : range_.stop - 1]
    print(f"batch {k}: {batch.shape[::-1]}, sum {batch.sum().reshape(-1)[0].asscalar():.3f}")


def hits(scores, labels):
    """How often the largest score stands at the label."""
    n = 0
    scores_np = scores.asnumpy()
    labels_np = labels.asnumpy()
    for j in range(scores_np.shape[-2]):
        if int(np.argmax(scores_np[j])) + 1 == int(np.argmax(labels_np[j])) + 1:
            n += 1
    return n


scores = onehot * 2 - 1
print(f"hits: {hits(scores, onehot)} of {len(y)}")

counts = {}
for label in y:
    name = CLASSES[label - 1]
    counts[name] = counts.get(name, 0) + 1
for name in sorted(counts.keys()):
    print(name.ljust(12), counts[name], sep="")
