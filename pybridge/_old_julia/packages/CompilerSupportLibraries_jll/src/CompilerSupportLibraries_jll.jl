# Stand-in: juliacall loads this first, so that Julia's libgfortran comes before others.
# Debian's Julia finds its own through run paths; there is nothing to load.
module CompilerSupportLibraries_jll
end
