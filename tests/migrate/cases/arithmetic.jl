#% juxtaposition_binds_less_than_power
x = 3
println(2x^2 + 1)
#% juxtaposition_binds_more_than_division
x = 4
println(1 / 2x)
#% power_of_a_negative_number
println(-2^2, " ", (-2)^2)
#% power_is_right_associative
println(2^3^2)
#% power_with_a_juxtaposed_exponent
x = 2
println(2^3x)
#% division_of_integers_is_a_float
println(7 / 2, " ", 6 / 3)
#% integer_division_truncates
a = -7
println(a ÷ 2, " ", div(7, 2), " ", div(a, 2))
#% integer_division_of_lengths
xs = [1, 2, 3, 4, 5]
println(length(xs) ÷ 2)
#% remainder_has_the_sign_of_the_dividend
a = -7
println(a % 3, " ", rem(a, 3), " ", mod(a, 3))
#% remainder_of_counts
for i in 1:4
  println(i % 3)
end
#% mod1_and_cld
n = 9
println(mod1(9, 3), " ", mod1(n + 1, 3), " ", cld(n, 2), " ", fld(-n, 2))
#% divrem_of_either_sign
a = -9
println(divrem(9, 4), " ", divrem(a, 4))
#% comparisons_chain
x = 5
println(1 < x <= 5, " ", 1 < x < 5)
#% unicode_comparisons
x = 5
println(x ≤ 5, " ", x ≥ 6, " ", x ≠ 5)
#% bits
println(5 & 3, " ", 5 | 3, " ", xor(5, 3), " ", 5 ⊻ 1, " ", 1 << 4, " ", 64 >> 2, " ", ~5)
#% bit_precedence
println(1 + 2 & 3, " ", 4 | 1 * 2, " ", 1 << 2 + 1)
#% rounding
println(floor(Int, 2.7), " ", ceil(Int, 2.1), " ", round(Int, 2.5), " ", round(Int, 3.5), " ", trunc(Int, -2.7))
#% rounding_to_floats
println(floor(2.7), " ", ceil(-2.1), " ", round(2.345, digits=2))
#% minimum_of_numbers
println(min(3, 1, 2), " ", max(3, 1), " ", clamp(7, 1, 5), " ", abs(-3))
#% elementary_functions
println(sqrt(16.0), " ", exp(0.0), " ", log(1.0), " ", sin(0.0), " ", hypot(3.0, 4.0), " ", √9.0)
#% constants
println(round(π, digits=4), " ", round(ℯ, digits=4))
#% integer_functions
println(gcd(12, 18), " ", lcm(4, 6), " ", factorial(5), " ", binomial(5, 2), " ", isqrt(17))
#% parity
println(iseven(4), " ", isodd(4), " ", iszero(0))
#% conversions
println(Int(3.0), " ", Float64(3), " ", parse(Int, "42"), " ", parse(Float64, "2.5"), " ", Bool(1))
#% rationals
r = 1//3 + 1//6
println(numerator(r), " ", denominator(r))
#% boolean_operators
a, b = true, false
println(a && b, " ", a || b, " ", !a, " ", a & b, " ", a | b)
#% negation_binds_tighter_than_comparison
a = false
println(!a == true)
#% ternaries_nest
x = 0
println(x > 0 ? "plus" : x < 0 ? "minus" : "zero")
#% augmented_assignment
x = 10
x += 5; x -= 3; x *= 2; x ÷= 5; x ^= 2; x %= 7
println(x)
#% pipes
println([3, 1, 2] |> sort |> first)
#% number_literals
println(1_000_000 + 0x1f + 0b101 + 0o17, " ", 1e3, " ", 2.5e-1)
#% multiple_assignment_swaps
a, b = 1, 2
a, b = b, a
println(a, " ", b)
#% isapprox_operator
println(0.1 + 0.2 ≈ 0.3, " ", 1.0 ≈ 1.1)
#% sign_of_remainder_float
println(rem(-7.5, 2.0), " ", mod(-7.5, 2.0))
#% colon_binds_less_than_plus
n = 3
for i in 1:n+1
  print(i, " ")
end
println()
#% logical_values_of_comparisons
x = 3
ok = x > 2 && x < 10 || x == 0
println(ok)
