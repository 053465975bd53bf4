package grounding

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"hippocampus/internal/lazyregexp"
)

// number is a number of a text.
type number struct {
	words  string
	value  float64
	ofUnit bool // it measures something, so that it is no count of things that sources name one by one
}

// unit matches what follows a number that measures something.
var unit = lazyregexp.New(`^(?:[- ]?(?:years?|weeks?|nights?|hours?|minutes?|euros?|dollars?|pounds?|` +
	`km|kg|kilomet\w+|percent|degrees?)\b|%|[岁年天晚夜点元块米斤]|周(?:\P{Han}|[^一二三四五六日末])|公里|个?小时|分钟)`)

var (
	digits   = lazyregexp.New(`\d+(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?`)
	spelled  = lazyregexp.New(`(?i)\b` + spelledWord + `(?:[- ]` + spelledWord + `)*\b`)
	han      = lazyregexp.New(`第?` + hanNumber + `(?:分钟|秒钟|\p{Han})?`)
	counters = "岁年月日号个只天次人点元块公里米斤层楼周小时条本台辆张位名口届级期度遍趟杯片瓶盒袋碗颗粒双根棵座栋间份晚夜件罐幅套种首篇章句门所部枝朵匹群封"
	clock    = lazyregexp.New(`(?i)\b(\d{1,2})(?::\d{2})? ?p\.?m\b|(?:下午|晚上)(\d{1,2})`)
	ordinal  = lazyregexp.New(`(?i)\b(?:` + strings.Join(ordinals, "|") + `)\b`)
	ordinals = strings.Fields("first second third fourth fifth sixth seventh eighth ninth tenth")
)

var spelledWords = []string{"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
	"twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty", "thirty",
	"forty", "fifty", "sixty", "seventy", "eighty", "ninety", "hundred", "thousand", "million"}

// numberWords are the words without which a text has no number in English words.
var numberWords = wordSet(strings.Join(append(slices.Clone(spelledWords), ordinals...), " "))

const hanNumerals = "〇零一二两三四五六七八九十百千万"

var spelledWord = "(?:" + strings.Join(spelledWords, "|") + ")"

// numbersIn returns the numbers of a text: digits, English words, and Chinese numerals before a counter or of at
// least two characters.
func numbersIn(s string) []number {
	var list []number
	latin := false
	for _, token := range tokensOf(strings.ToLower(s)) {
		latin = latin || numberWords[token]
	}
	hasHan := strings.ContainsAny(s, hanNumerals)
	for _, at := range digits.FindAllStringIndex(s, -1) {
		words := s[at[0]:at[1]]
		value, _ := strconv.ParseFloat(strings.ReplaceAll(words, ",", ""), 64)
		if strings.HasPrefix(s[at[1]:], "万") {
			value *= 10_000
		}
		list = append(list, number{words, value, unit.MatchString(s[at[1]:])})
	}
	if !latin && !hasHan {
		return list
	}
	for _, at := range spelled.FindAllStringIndex(s, -1) {
		for _, words := range numbersOf(s[at[0]:at[1]]) {
			list = append(list, number{words, float64(spelledValue(words)), unit.MatchString(s[at[1]:])})
		}
	}
	for _, words := range ordinal.FindAllString(s, -1) {
		list = append(list, number{words: words, value: float64(slices.Index(ordinals, strings.ToLower(words)) + 1)})
	}
	for _, at := range han.FindAllStringIndex(s, -1) {
		words := s[at[0]:at[1]]
		if strings.HasPrefix(words, "万") && joined(s[:at[0]]) { // 20万 is one number
			continue
		}
		numerals := strings.TrimFunc(words, func(r rune) bool { return hanDigits[r] == 0 && r != '零' && r != '〇' })
		_, after, _ := strings.Cut(words, numerals)
		counted := after != "" && strings.Contains(counters, after) || strings.HasPrefix(words, "第") ||
			after == "分钟" || after == "秒钟"
		if counted || utf8.RuneCountInString(numerals) > 1 && numerals != "千万" {
			list = append(list, number{numerals, float64(hanValue(numerals)), unit.MatchString(after + s[at[1]:])})
		}
	}
	return list
}

// numbersOf divides number words into numbers: "one three" is two, "twenty-three" is one.
func numbersOf(words string) (numbers []string) {
	const firstTen = 19 // the place of "twenty"
	start := 0
	before := firstTen
	for _, at := range latinLetters.FindAllStringIndex(words, -1) {
		place := slices.Index(spelledWords, strings.ToLower(words[at[0]:at[1]]))
		if place < firstTen && before < firstTen {
			numbers = append(numbers, strings.Trim(words[start:at[0]], " -"))
			start = at[0]
		}
		before = place
	}
	return append(numbers, words[start:])
}

var latinLetters = lazyregexp.New(`[A-Za-z]+`)

func spelledValue(words string) (total int) {
	part := 0
	for _, w := range strings.FieldsFunc(strings.ToLower(words), func(r rune) bool { return r == ' ' || r == '-' }) {
		switch i := slices.Index(spelledWords, w); {
		case w == "hundred":
			part = max(part, 1) * 100
		case w == "thousand":
			total, part = total+max(part, 1)*1000, 0
		case w == "million":
			total, part = (total+max(part, 1))*1_000_000, 0
		case i < 19:
			part += i + 1
		default:
			part += (i - 17) * 10
		}
	}
	return total + part
}

var hanDigits = map[rune]int{'一': 1, '二': 2, '两': 2, '三': 3, '四': 4, '五': 5, '六': 6, '七': 7, '八': 8, '九': 9,
	'十': 10, '百': 100, '千': 1000, '万': 10_000}

// hanValue is the value of a Chinese numeral, as in 三十四, 一百零五 or 二〇二六; 0 for another text.
func hanValue(s string) (total int) {
	part := 0
	digit := 0
	places := 0
	unit := 1 // of the last character, as in 一万二, which is 12,000
	for _, r := range s {
		switch v := hanDigits[r]; {
		case r == '零' || r == '〇':
			digit, places = digit*10, places+1
			unit = 1
		case v == 0:
			return 0
		case v < 10:
			if places > 0 && part == 0 {
				v += digit * 10
			}
			digit, places = v, places+1
		case v == 10_000:
			total += max(part+digit, 1) * v
			unit = v
			part = 0
			digit = 0
			places = 0
		default:
			part += max(digit, 1) * v
			unit = v
			digit = 0
			places = 0
		}
	}
	if unit >= 100 && digit < 10 {
		digit *= unit / 10
	}
	return total + part + digit
}

// clockNumbers returns the afternoon hours that a text names, as hours of a 24-hour clock.
func clockNumbers(s string) (hours []float64) {
	for _, match := range clock.FindAllStringSubmatch(s, -1) {
		if hour, err := strconv.Atoi(match[1] + match[2]); err == nil && hour < 12 {
			hours = append(hours, float64(hour+12))
		}
	}
	return hours
}

// halves match a number and a half.
var halves = hintedBy("half|半", `\b(\w+) and a half\b|([一两二三四五六七八九十])[个年天]?半`)

// halvesIn returns the numbers with a half of a plain text.
func halvesIn(said string) (numbers []float64) {
	for _, match := range halves.groupsIn(said) {
		if n := valueOf(match[0]); n > 0 {
			numbers = append(numbers, float64(n)+0.5)
		}
	}
	return numbers
}

// minDigits is the least number of digits of a number that a source may have with other separators, such as a telephone
// number.
const minDigits = 4

// number reports whether a source has a number.
func (has Evidence) number(n number) bool {
	if n.value <= 1 || !n.ofUnit && n.value <= float64(has.count) || has.numbers[n.value] {
		return true
	}
	if has.sum(n.value) {
		return true
	}
	d := digitsOf(n.words)
	isPart := func(all string) bool { return strings.Contains(all, d) }
	if len(d) >= minDigits && !strings.Contains(n.words, ",") && slices.ContainsFunc(has.digits, isPart) {
		return true
	}
	return slices.ContainsFunc(has.dates, func(o date) bool {
		return n.value == float64(o.year) || n.value == float64(o.month) || n.value == float64(o.day)
	})
}

// leastSum is the least number that may be the sum of two numbers of the sources: smaller ones are too often one.
const leastSum = 100

// sum reports whether a number is the sum of two of the sources, each of at least two digits.
func (has Evidence) sum(value float64) bool {
	if value < leastSum {
		return false
	}
	for n := range has.numbers {
		if n >= 10 && value-n >= 10 && has.numbers[value-n] {
			return true
		}
	}
	return false
}

func digitsOf(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return r
		}
		return -1
	}, s)
}

// Number reads a whole number in digits or Chinese numerals.
func Number(s string) (n int, ok bool) {
	if n, err := strconv.Atoi(s); err == nil {
		return n, true
	}
	n = hanValue(s)
	return n, n > 0
}
