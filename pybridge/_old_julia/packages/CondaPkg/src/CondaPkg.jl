# Stand-in: PythonCall asks CondaPkg for a Python only when Julia starts Python.
# Here Python starts Julia, so every question but the back end's name is a mistake.
module CondaPkg

backend() = :Null

envdir() = error("CondaPkg is a stand-in of pybridge here: it manages no Conda environment")

activate!(env) = env

end
