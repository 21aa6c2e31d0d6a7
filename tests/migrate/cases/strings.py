#% interpolation
name, n = "you", 3
print(f"hello {name}, {n} and {n + 1}")
#% interpolation_with_quotes
d = {"a": 1}
print(f"value: {d['a']}")
#% interpolation_of_text_in_quotes
s = "x"
print(f"""say "{s}" and '{s}'""")
#% escapes
print("tab\tend\\ dollar $5 unicode é")
#% concatenation
a = "foo"
print(f"{a + 'bar' + f'{a}!'} {'ab' * 3} {'xy' * 2}")
#% string_of_pieces
print(f"a{1}b{2.5}")
#% triple_quotes
text = "one\n  two\nthree\n"
print(text, end="")
#% length_and_positions
s = "hello"
print(f"{len(s)} {s[0]} {s[-1]} {s[1:3]} {s[:-1]}")
#% upper_and_lower
print(f"{'abc'.upper()}{'ABC'.lower()} {'abc'.title()}")
#% splitting_and_joining
parts = "a,b,c".split(",")
print(f"{parts[1]} {'-'.join(parts)} {len('a b  c'.split())}")
#% replacing
print(f"{'hello'.replace('l', 'L')} {'a-b'.replace('-', '')}")
#% stripping
print(f"[{'  x '.strip()}] [{'  x'.lstrip()}] [{'x  '.rstrip()}]")
#% tests_of_strings
print(f"{'hello'.startswith('he')} {'hello'.endswith('lo')} {'ell' in 'hello'}")
#% padding
print(f"[{'7'.rjust(3)}] [{'ab'.ljust(4)}] [{str(5).rjust(3, '0')}]")
#% characters
c = "a"
print(f"{c} {chr(ord(c) + 1)} {ord('c') - ord('a')} {ord('A')} {chr(66)}")
#% symbols
s = "name"
print(f"{s} {s == 'name'} x{1}")
#% printf
print(f"{3} {2.5:5.2f} x {1234.5:.6e}")
#% printf_widths
print(f"[{42:5d}] [{42:<5d}] [{42:05d}] [{42:+d}]")
#% printf_strings
print(f"[{'ab':>5}] [{'cd':<5}] 100%")
#% printf_without_parentheses
print(f"{1 / 3:.3f} and {7}")
#% sprintf
s = f"{7:03d}-{2.26:.1f}"
print(s)
#% printf_rounds_floats
print(f"{3.7:.0f} {2.0:.2f} {0.5:.6g}")
#% print_without_newline
print("a", end="")
print("b")
print(1, 2, sep="", end="")
print()
#% println_of_several
x = 3
print(f"x = {x}, twice {2 * x}")
#% show_macro
x = 3
print(f"x = {x}")
#% regular_expressions
import re

print(
    f"{re.search(re.compile('^h.l'), 'hello') is not None} {re.sub(re.compile('[0-9]+'), '#', 'a1b22')}"
)
#% comparing_strings
print(f"{'a' < 'b'} {'a' == 'a'}")
#% loop_over_characters_with_position
for i, c in enumerate("ab", 1):
    print(i, c, sep="")
#% repr_and_string
print(str(12) + "a")
#% parse_in_a_loop
print(sum((int(x) for x in "1 2 3".split())))
#% numbers_with_units_in_text
n = 1500
print(f"{n // 1000}k and {n % 1000}")
#% groups_of_a_match
import re

m = re.search(re.compile("(\\d+)-(\\d+)"), "10-20")
print(f"{int(m[2]) + 1} {m[1]}")
