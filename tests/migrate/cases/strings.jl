#% interpolation
name, n = "you", 3
println("hello $name, $n and $(n + 1)")
#% interpolation_with_quotes
d = Dict("a" => 1)
println("value: $(d["a"])")
#% interpolation_of_text_in_quotes
s = "x"
println("say \"$s\" and '$(s)'")
#% escapes
println("tab\tend\\ dollar \$5 unicode é")
#% concatenation
a = "foo"
println(a * "bar" * "$(a)!", " ", "ab"^3, " ", repeat("xy", 2))
#% string_of_pieces
println(string("a", 1, "b", 2.5))
#% triple_quotes
text = """
  one
    two
  three
  """
print(text)
#% length_and_positions
s = "hello"
println(length(s), " ", s[1], " ", s[end], " ", s[2:3], " ", s[1:end-1])
#% upper_and_lower
println(uppercase("abc"), lowercase("ABC"), " ", titlecase("abc"))
#% splitting_and_joining
parts = split("a,b,c", ",")
println(parts[2], " ", join(parts, "-"), " ", length(split("a b  c")))
#% replacing
println(replace("hello", "l" => "L"), " ", replace("a-b", "-" => ""))
#% stripping
println("[", strip("  x "), "] [", lstrip("  x"), "] [", rstrip("x  "), "]")
#% tests_of_strings
println(startswith("hello", "he"), " ", endswith("hello", "lo"), " ", occursin("ell", "hello"))
#% padding
println("[", lpad("7", 3), "] [", rpad("ab", 4), "] [", lpad(5, 3, "0"), "]")
#% characters
c = 'a'
println(c, " ", c + 1, " ", 'c' - 'a', " ", Int('A'), " ", Char(66))
#% symbols
s = :name
println(s, " ", s == :name, " ", Symbol("x", 1))
#% printf
using Printf
@printf("%d %5.2f %s %e\n", 3, 2.5, "x", 1234.5)
#% printf_widths
using Printf
@printf("[%5d] [%-5d] [%05d] [%+d]\n", 42, 42, 42, 42)
#% printf_strings
using Printf
@printf("[%5s] [%-5s] 100%%\n", "ab", "cd")
#% printf_without_parentheses
using Printf
@printf "%.3f and %d\n" 1/3 7
#% sprintf
using Printf
s = @sprintf("%03d-%.1f", 7, 2.26)
println(s)
#% printf_rounds_floats
using Printf
@printf("%.0f %.2f %g\n", 3.7, 2.0, 0.5)
#% print_without_newline
print("a")
print("b\n")
print(1, 2)
println()
#% println_of_several
x = 3
println("x = ", x, ", twice ", 2x)
#% show_macro
x = 3
@show x
#% regular_expressions
println(occursin(r"^h.l", "hello"), " ", replace("a1b22", r"[0-9]+" => "#"))
#% comparing_strings
println("a" < "b", " ", "a" == "a")
#% loop_over_characters_with_position
for (i, c) in enumerate("ab")
  println(i, c)
end
#% repr_and_string
println(string(12) * string(:a))
#% parse_in_a_loop
println(sum(parse(Int, x) for x in split("1 2 3")))
#% numbers_with_units_in_text
n = 1500
println("$(n ÷ 1000)k and $(n % 1000)")
#% groups_of_a_match
m = match(r"(\d+)-(\d+)", "10-20")
println(parse(Int, m[2]) + 1, " ", m[1])
