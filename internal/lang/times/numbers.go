package times

import (
	"strconv"
	"strings"
)

// code returns the value of a member of a class: 5 for "5", 100*a + b for "a-b" and "a/b", and 100*a + b + 10000*c for
// "a-b c".
func (r *rule) code() int {
	first, second, pair := strings.Cut(strings.ReplaceAll(r.name, "/", "-"), "-")
	code, _ := strconv.Atoi(first)
	if pair {
		n, _ := strconv.Atoi(second)
		code = 100*code + n
	}
	if len(r.args) > 0 {
		n, _ := strconv.Atoi(r.args[0])
		code += 10000 * n
	}
	return code
}

// number returns the number at a place, in digits, words or Chinese numerals, and the number of tokens that it takes; 0
// tokens if there is no number.
func (s *scan) number(i int) (value, width int, ordinal bool) {
	if i >= len(s.tokens) {
		return 0, 0, false
	}
	t := s.tokens[i]
	if t.number >= 0 {
		return t.number, 1, t.ordinal
	}
	if n, width := s.member("ordinal", i); width > 0 {
		return n, width, false
	}
	if n, width := s.member("number", i); width > 0 {
		if n%10 != 0 || n < 20 {
			return n, width, false
		}
		after := i + width
		if after < len(s.tokens) && s.tokens[after].word == "-" {
			after++
		}
		for _, class := range []string{"number", "ordinal"} {
			if one, more := s.member(class, after); more > 0 && one < 10 {
				return n + one, after + more - i, false
			}
		}
		return n, width, false
	}
	value, width = s.han(i)
	return value, width, false
}

// hanDigits are the Chinese numerals by their values; 两 is 2 also.
const hanDigits = "〇一二三四五六七八九"

// han returns the number in Chinese numerals at a place: up to 99, or the four digits of a year.
func (s *scan) han(i int) (value, width int) {
	var digits []int // 10 for 十
	for _, t := range s.tokens[i:] {
		d := strings.Index(hanDigits, t.word)
		switch {
		case len(t.word) != 3:
			d = -1
		case t.word == "零":
			d = 0
		case t.word == "两":
			d = 2
		case t.word == "十":
			d = 10
		case d >= 0:
			d /= 3
		}
		if d < 0 || len(digits) == 4 {
			break
		}
		digits = append(digits, d)
	}
	return valueOf(digits), len(digits)
}

// valueOf is the value of numerals; 0 if they are no number.
func valueOf(digits []int) int {
	switch n := len(digits); {
	case n == 1:
		return digits[0]
	case n == 2 && digits[0] == 10 && digits[1] < 10:
		return 10 + digits[1]
	case n == 2 && digits[1] == 10 && digits[0] < 10:
		return 10 * digits[0]
	case n == 3 && digits[1] == 10 && digits[0] < 10 && digits[2] < 10:
		return 10*digits[0] + digits[2]
	case n == 4 && max(digits[0], digits[1], digits[2], digits[3]) < 10:
		return 1000*digits[0] + 100*digits[1] + 10*digits[2] + digits[3]
	}
	return 0
}
