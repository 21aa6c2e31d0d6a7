# What libmxnet's own threads run; its functions are plain C symbols, called through ctypes (_libmxnet_trampoline.py).
