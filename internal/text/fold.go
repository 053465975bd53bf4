package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// script is the class of a character. A text is split into runs of one class.
type script int

const (
	separator script = iota // spaces, punctuation, symbols
	letter                  // of a script with word boundaries
	digit
	paired // of a script whose words are compared by pairs of characters
)

// unspaced are the scripts without reliable word boundaries.
var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// prefixed are the scripts whose words begin with articles, prepositions and conjunctions.
var prefixed = []*unicode.RangeTable{unicode.Hebrew, unicode.Arabic}

// IsUnspaced reports whether a character belongs to a script without word boundaries, as Chinese does.
func IsUnspaced(r rune) bool {
	return isIdeograph(r) || r >= utf8.RuneSelf && (unicode.In(r, unspaced...) && !unicode.IsDigit(r) || r == 'ー')
}

// IsPaired reports whether Lexemes returns pairs of characters of the script of a character.
func IsPaired(r rune) bool { return classify(r) == paired }

// isIdeograph reports whether a character belongs to the block of Unicode that has nearly all Han characters of a text.
func isIdeograph(r rune) bool { return 0x4e00 <= r && r <= 0x9fff }

func classify(r rune) script {
	switch {
	case 'a' <= r && r <= 'z': // the most frequent characters first
		return letter
	case r == ' ':
		return separator
	case isIdeograph(r):
		return paired
	case unicode.IsDigit(r):
		return digit
	case r < utf8.RuneSelf && !unicode.IsLetter(r):
		return separator
	case IsUnspaced(r), unicode.IsLetter(r) && unicode.In(r, prefixed...):
		return paired
	case unicode.IsLetter(r):
		return letter
	}
	return separator
}

// spellings maps letters to their spelling where a keyboard lacks them, and forms of a letter to the letter. Other
// letters only lose their accents.
var spellings = map[rune]string{
	'ä': "ae", 'ö': "oe", 'ü': "ue", 'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'ł': "l", 'đ': "d", 'ð': "d", 'þ': "th",
	'ı': "i", 'ς': "σ",
	'ک': "ك", 'ی': "ي", 'ى': "ي", 'ة': "ه", 'ـ': "",
	'ך': "כ", 'ם': "מ", 'ן': "נ", 'ף': "פ", 'ץ': "צ",
}

// fold returns the characters of a text in the form in which they are compared: in NFKC and lower case, digits of all
// scripts as 0 to 9, letters without accents ("café" -> cafe, "й" -> и) or in their other spelling ("ß" -> ss).
func fold(s string) []rune {
	s = strings.ToLower(norm.NFKC.String(strings.ToValidUTF8(s, " ")))
	folded := make([]rune, 0, len(s))
	for _, r := range s {
		if r < utf8.RuneSelf || isIdeograph(r) {
			folded = append(folded, r)
			continue
		}
		switch spelling, ok := spellings[r]; {
		case ok:
			folded = append(folded, []rune(spelling)...)
		case unicode.IsDigit(r):
			folded = append(folded, '0'+valueOf(r))
		case isAccent(r):
		default:
			folded = append(folded, withoutAccents(r))
		}
	}
	return folded
}

// accented are the scripts whose letters are often written without their accents or vowel points.
var accented = []*unicode.RangeTable{unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Hebrew, unicode.Arabic}

// isAccent reports whether a character is a mark on a letter of an accented script.
func isAccent(r rune) bool {
	const kana = 0x3000 // marks from here on distinguish kana
	return unicode.Is(unicode.Mn, r) && r < kana && unicode.In(r, unicode.Inherited, unicode.Hebrew, unicode.Arabic)
}

func withoutAccents(r rune) rune {
	if !unicode.In(r, accented...) {
		return r
	}
	if decomposed := norm.NFD.PropertiesString(string(r)).Decomposition(); decomposed != nil {
		r, _ = utf8.DecodeRune(decomposed)
	}
	return r
}

// valueOf returns the value of a decimal digit. The digits of a script follow each other from zero to nine.
func valueOf(r rune) rune {
	zero := r
	for unicode.IsDigit(zero - 1) {
		zero--
	}
	return (r - zero) % 10
}
