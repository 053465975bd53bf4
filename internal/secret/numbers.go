package secret

import (
	"iter"
	"strings"
	"time"

	"hippocampus/internal/lazyregexp"
)

// numbers finds card numbers, IBANs and Chinese identity numbers by their length, issuer and checksum.
func numbers(text string) (spans []span) {
	for start, end := range digitRuns(text) {
		for _, match := range digitGroups.FindAllStringIndex(text[start:end], -1) {
			from, to := start+match[0], start+match[1]
			if isApart(text, from, to) && isCard(text[from:to]) {
				spans = append(spans, span{from, to, Card})
			}
		}
		for _, match := range identityNumber.FindAllStringIndex(text[start:end], -1) {
			from, to := start+match[0], start+match[1]
			if isApart(text, from, to) && isIdentity(text[from:to]) {
				spans = append(spans, span{from, to, IdentityNumber})
			}
		}
	}
	for start := range len(text) - 3 {
		if !beginsIBAN(text[start:]) {
			continue
		}
		if end := ibanEnd(text, start); end > 0 && isApart(text, start, end) {
			spans = append(spans, span{start, end, IBAN})
		}
	}
	return spans
}

// digitRuns yields the longest runs of characters of cards and identity numbers that have enough digits for one. To
// search these alone takes a fraction of the time.
func digitRuns(text string) iter.Seq2[int, int] {
	const fewest = 13 // digits
	return func(yield func(start, end int) bool) {
		start, digits := 0, 0
		for i := range len(text) + 1 {
			if i < len(text) && strings.IndexByte("0123456789 -Xx", text[i]) >= 0 {
				if isDigit(text[i]) {
					digits++
				}
				continue
			}
			if digits >= fewest && !yield(start, i) {
				return
			}
			start, digits = i+1, 0
		}
	}
}

// beginsIBAN reports whether a text begins with a country and a checksum.
func beginsIBAN(s string) bool {
	return isCapital(s[0]) && isCapital(s[1]) && isDigit(s[2]) && isDigit(s[3])
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isCapital(c byte) bool { return 'A' <= c && c <= 'Z' }

var (
	// digitGroups are the digits of a card, alone or in the groups in which they are printed.
	digitGroups = lazyregexp.New(`\d{4}(?: \d{4}){3}(?: \d{3})?|\d{4}(?:-\d{4}){3}(?:-\d{3})?|` +
		`\d{4}[ -]\d{6}[ -]\d{4,5}|\d{6}[ -]\d{13}|\d{13,19}`)
	identityNumber = lazyregexp.New(`\d{17}[\dXx]|\d{6} \d{8} \d{3}[\dXx]`)
)

// isApart reports whether the characters around a number do not continue it.
func isApart(text string, start, end int) bool {
	continues := func(c byte) bool {
		return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_'
	}
	before := start == 0 || !continues(text[start-1]) &&
		(start == 1 || !strings.ContainsRune(".-+/", rune(text[start-1])) || !continues(text[start-2]))
	after := end == len(text) || !continues(text[end]) &&
		(end+1 == len(text) || !strings.ContainsRune(".-/", rune(text[end])) || !continues(text[end+1]))
	return before && after
}

// issuers are the ranges of the first six digits of cards, and the least and most digits of their numbers.
var issuers = [...][4]int{
	{400000, 499999, 16, 16}, // Visa; numbers of 13 digits are no longer issued, and look like an ISBN or a time
	{510000, 559999, 16, 16}, // Mastercard
	{222100, 272099, 16, 16}, //
	{340000, 349999, 15, 15}, // American Express
	{370000, 379999, 15, 15}, //
	{620000, 629999, 16, 19}, // UnionPay
	{601100, 601199, 16, 19}, // Discover
	{644000, 659999, 16, 19}, //
	{352800, 358999, 16, 19}, // JCB
	{300000, 305999, 14, 14}, // Diners Club
	{360000, 369999, 14, 14}, //
	{380000, 399999, 14, 14}, //
	{220000, 220499, 16, 16}, // Mir
	{608000, 608999, 16, 16}, // RuPay
	{955880, 955899, 19, 19}, // older cards of ICBC
}

var withoutGaps = strings.NewReplacer(" ", "", "-", "")

func isCard(text string) bool {
	digits := withoutGaps.Replace(text)
	first := 0
	for _, c := range digits[:6] {
		first = first*10 + int(c-'0')
	}
	for _, issuer := range issuers {
		if issuer[0] <= first && first <= issuer[1] && issuer[2] <= len(digits) && len(digits) <= issuer[3] {
			return isLuhn(digits)
		}
	}
	return false
}

// isLuhn checks the sum of ISO/IEC 7812: every second digit from the right is doubled, and the digits are added up.
func isLuhn(digits string) bool {
	sum := 0
	for i := range len(digits) {
		d := int(digits[len(digits)-1-i] - '0')
		if i%2 == 1 {
			d *= 2
		}
		sum += d/10 + d%10
	}
	return sum%10 == 0
}

// isIdentity checks an identity number by GB 11643: place, day of birth, sequence and check digit.
func isIdentity(number string) bool {
	number = strings.ReplaceAll(number, " ", "")
	if place := number[:2]; place < "11" || place > "91" {
		return false
	}
	born, err := time.Parse("20060102", number[6:14])
	if err != nil || born.Year() < 1900 || born.Year() > 2099 {
		return false
	}
	sum, weight := 0, 1
	for i := 16; i >= 0; i-- {
		weight = weight * 2 % 11
		sum += weight * int(number[i]-'0')
	}
	return "10X98765432"[sum%11] == strings.ToUpper(number)[17]
}

// ibanLengths are the characters of an IBAN by country.
var ibanLengths = map[string]int{
	"AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BI": 27, "BR": 29, "BY": 28,
	"CH": 21, "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DJ": 27, "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18,
	"FK": 18, "FO": 18, "FR": 27, "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28, "HR": 21, "HU": 28, "IE": 22,
	"IL": 23, "IQ": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LC": 32, "LI": 21, "LT": 20, "LU": 20,
	"LV": 21, "LY": 25, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MN": 20, "MR": 27, "MT": 31, "MU": 30, "NI": 28, "NL": 18,
	"NO": 15, "OM": 23, "PK": 24, "PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22, "RU": 33, "SA": 24, "SC": 31,
	"SD": 18, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "SO": 23, "ST": 25, "SV": 28, "TL": 23, "TN": 24, "TR": 26, "UA": 29,
	"VA": 22, "VG": 24, "XK": 20, "YE": 30,
}

// ibanEnd returns the end of the IBAN that begins at start; 0 without a valid one (ISO 13616).
func ibanEnd(text string, start int) int {
	length := ibanLengths[text[start:start+2]]
	var number []byte
	end := start
	for ; end < len(text) && len(number) < length; end++ {
		switch c := text[end]; {
		case '0' <= c && c <= '9' || 'A' <= c && c <= 'Z':
			number = append(number, c)
		case c != ' ' || text[end-1] == ' ':
			return 0
		}
	}
	if length == 0 || len(number) < length {
		return 0
	}
	rest := 0
	for _, c := range append(number[4:], number[:4]...) {
		if c <= '9' {
			rest = (rest*10 + int(c-'0')) % 97
		} else {
			rest = (rest*100 + int(c-'A') + 10) % 97
		}
	}
	if rest != 1 {
		return 0
	}
	return end
}
