#% juxtaposition_binds_less_than_power
x = 3
print(2 * x**2 + 1)
#% juxtaposition_binds_more_than_division
x = 4
print(1 / (2 * x))
#% power_of_a_negative_number
print(f"{-(2**2)} {(-2) ** 2}")
#% power_is_right_associative
print(2**3**2)
#% power_with_a_juxtaposed_exponent
x = 2
print(2 ** (3 * x))
#% division_of_integers_is_a_float
print(f"{7 / 2} {6 / 3}")
#% integer_division_truncates
a = -7
print(f"{int(a / 2)} {7 // 2} {int(a / 2)}")
#% integer_division_of_lengths
import numpy as np

xs = np.array([1, 2, 3, 4, 5])
print(len(xs) // 2)
#% remainder_has_the_sign_of_the_dividend
import math

a = -7
print(f"{int(math.fmod(a, 3))} {int(math.fmod(a, 3))} {a % 3}")
#% remainder_of_counts
for i in range(1, 5):
    print(i % 3)
#% mod1_and_cld
n = 9
print(f"{8 % 3 + 1} {n % 3 + 1} {-(-n // 2)} {-n // 2}")
#% divrem_of_either_sign
import math

a = -9
print(f"{divmod(9, 4)} {(int(a / 4), int(math.fmod(a, 4)))}")
#% comparisons_chain
x = 5
print(f"{1 < x <= 5} {1 < x < 5}")
#% unicode_comparisons
x = 5
print(f"{x <= 5} {x >= 6} {x != 5}")
#% bits
print(f"{5 & 3} {5 | 3} {5 ^ 3} {5 ^ 1} {1 << 4} {64 >> 2} {~5}")
#% bit_precedence
print(f"{1 + (2 & 3)} {4 | 1 * 2} {(1 << 2) + 1}")
#% rounding
import math

print(f"{math.floor(2.7)} {math.ceil(2.1)} {round(2.5)} {round(3.5)} {math.trunc(-2.7)}")
#% rounding_to_floats
import math

print(f"{float(math.floor(2.7))} {float(math.ceil(-2.1))} {round(2.345, 2)}")
#% minimum_of_numbers
print(f"{min(3, 1, 2)} {max(3, 1)} {min(max(7, 1), 5)} {abs(-3)}")
#% elementary_functions
import math

import numpy as np

print(
    f"{math.sqrt(16.0)} {math.exp(0.0)} {math.log(1.0)} {math.sin(0.0)} {np.hypot(3.0, 4.0)} {math.sqrt(9.0)}"
)
#% constants
import math

print(f"{round(math.pi, 4)} {round(math.e, 4)}")
#% integer_functions
import math

print(f"{math.gcd(12, 18)} {math.lcm(4, 6)} {math.factorial(5)} {math.comb(5, 2)} {math.isqrt(17)}")
#% parity
print(f"{4 % 2 == 0} {4 % 2 == 1} {0 == 0}")
#% conversions
print(f"{int(3.0)} 3.0 {int('42')} {float('2.5')} {bool(1)}")
#% rationals
import fractions

r = fractions.Fraction(1, 3) + fractions.Fraction(1, 6)
print(f"{r.numerator} {r.denominator}")
#% boolean_operators
a, b = True, False
print(f"{a and b} {a or b} {not a} {a & b} {a | b}")
#% negation_binds_tighter_than_comparison
a = False
print((not a) == True)
#% ternaries_nest
x = 0
print("plus" if x > 0 else "minus" if x < 0 else "zero")
#% augmented_assignment
import math

x = 10
x += 5
x -= 3
x *= 2
x = int(x / 5)
x = x**2
x = int(math.fmod(x, 7))
print(x)
#% pipes
import numpy as np

print(np.sort([3, 1, 2])[0])
#% number_literals
print(f"{1000000 + 31 + 5 + 15} 1000.0 0.25")
#% multiple_assignment_swaps
a, b = 1, 2
a, b = b, a
print(f"{a} {b}")
#% isapprox_operator
import math

print(f"{math.isclose(0.1 + 0.2, 0.3, rel_tol=1.5e-08)} {math.isclose(1.0, 1.1, rel_tol=1.5e-08)}")
#% sign_of_remainder_float
import math

print(f"{math.fmod(-7.5, 2.0)} {-7.5 % 2.0}")
#% colon_binds_less_than_plus
n = 3
for i in range(1, n + 2):
    print(f"{i} ", end="")
print()
#% logical_values_of_comparisons
x = 3
ok = x > 2 and x < 10 or x == 0
print(ok)
