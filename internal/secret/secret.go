// Package secret cuts secrets out of what is said:
//
//	text -> spans with the form of a secret -> the text with [secret] in place of each, and what kinds they were
//
// A secret is known by its form, never by a word alone:
//
//	prefix or structure of a token, key block, JWT   prefixed.go, with gitleaks' rules as data
//	checksum of a card, IBAN or identity number      numbers.go
//	password in a URL, credentials in a header       carried.go
//	value that a text gives to a name                names.go, stated.go
//	  PASSWORD=..., "my PIN is 4821", 密码是 abc123
//
// The form of such a value depends on its name (form.go): a PIN has digits, an API key is long and random, a password
// is unlike the words that describe one ("my password is wrong").
package secret

import (
	"cmp"
	"slices"
	"strings"
)

// Mark stands in a text where a secret was.
const Mark = "[secret]"

// Kinds of secrets other than those of prefixed tokens, whose kind is the id of their rule, such as "github-pat".
const (
	PrivateKey     = "private-key"
	URLPassword    = "url-password"
	Credentials    = "credentials" // of an HTTP header
	Card           = "card-number"
	IBAN           = "iban"
	IdentityNumber = "identity-number" // of China (身份证) or of the USA
	Password       = "password"
	Code           = "code" // a PIN, a card's security code, a one-time code, the code of a door
	Key            = "key"  // a key or token that its name and its randomness show
	Document       = "document-number"
	Phrase         = "recovery-phrase"
)

// span is a secret in a text: its bytes from start to end.
type span struct {
	start, end int
	kind       string
}

// Cut replaces each secret of a text by Mark. kinds has the kind of each, in the order of the text. Cutting the result
// again changes nothing.
func Cut(text string) (cleaned string, kinds []string) {
	for range mostPasses { // cutting a secret may reveal one next to it
		spans := find(text)
		if len(spans) == 0 {
			break
		}
		var b strings.Builder
		written := 0
		for _, s := range spans {
			b.WriteString(text[written:s.start])
			b.WriteString(Mark)
			written = s.end
			kinds = append(kinds, s.kind)
		}
		b.WriteString(text[written:])
		text = b.String()
	}
	return text, kinds
}

const mostPasses = 4

// CutNamed is Cut for the value of a field, whose name may show that it is a secret: {"password": "otter"}.
func CutNamed(name, value string) (cleaned string, kinds []string) {
	cleaned, kinds = Cut(value)
	if kinds != nil || len(value) > reach || strings.ContainsAny(value, "\n\"") {
		return cleaned, kinds
	}
	if cut, kinds := Cut(`"` + name + `": "` + value + `"`); kinds != nil {
		if inner, ok := strings.CutPrefix(cut, `"`+name+`": "`); ok {
			return strings.TrimSuffix(inner, `"`), kinds
		}
	}
	return value, nil
}

// find returns the secrets of a text in order. Overlapping secrets become one span.
func find(text string) []span {
	longest, digits := look(text)
	var spans []span
	lower := strings.ToLower(text)
	if len(lower) != len(text) { // a few letters, such as İ, have another length in lower case
		lower = asciiLower(text)
	}
	if longest >= shortestRun {
		spans = append(spans, blocks(text)...)
		spans = append(spans, carried(text, lower)...)
	}
	if longest >= shortestToken {
		spans = append(spans, prefixed(text, lower)...)
	}
	if digits >= shortestNumber {
		spans = append(spans, numbers(text)...)
	}
	spans = append(spans, stated(text, lower)...)
	return joined(spans)
}

func joined(spans []span) []span {
	slices.SortStableFunc(spans, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	var all []span
	for _, s := range spans {
		if last := len(all) - 1; last >= 0 && s.start < all[last].end {
			all[last].end = max(all[last].end, s.end)
			continue
		}
		all = append(all, s)
	}
	return all
}

const (
	shortestRun    = 10 // characters in a row of a URL with a password, a header or the first line of a key block
	shortestToken  = 16 // characters in a row of a token that is known by its prefix
	shortestNumber = 10 // digits of a text with a number that has a checksum
)

// look returns what one pass over a text shows about the secrets that it may hold: the length of its longest run of
// visible ASCII characters, and the number of its digits.
func look(text string) (longest, digits int) {
	run := 0
	for i := range len(text) {
		c := text[i]
		run++
		if c <= ' ' || c >= 0x7f {
			run = 0
		}
		longest = max(longest, run)
		if '0' <= c && c <= '9' {
			digits++
		}
	}
	return longest, digits
}

func asciiLower(text string) string {
	b := []byte(text)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
