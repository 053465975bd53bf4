package voice

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"hippocampus/internal/lazyregexp"
)

var (
	header = lazyregexp.New(`(?i)^(?:from|subject|发件人|寄件人|主题|主旨)\s*[:：]\s*\S`)

	// forwarded is the line above a forwarded mail, attribution the line above an answered mail.
	forwarded   = lazyregexp.New(`(?i)^-{3,}\s*(?:original message|forwarded message|原始邮件|转发的?邮件)\s*-{3,}`)
	attribution = lazyregexp.New(`(?i)^on .{4,80} wrote:$|^在\s?.{4,80}写道[：:]$`)

	// salutation begins a mail, and also a message to an assistant. It may be a name alone.
	salutation = lazyregexp.New(`(?i)^(?:dear|hi|hello|hey)(?: [^,，.!?:]{1,40})?[,，:!]$|` +
		`^(?:尊敬的|敬爱的|亲爱的|各位)[^，。,]{1,20}[：:，,]$|^[^，。,]{0,8}(?:您好|你好|大家好)[，,：:！!]$|` +
		`^(?-i:\p{Lu})\p{Ll}+,$|^\p{Han}{2,4}[：:]$`)
	formal = lazyregexp.New(`(?i)^dear |^(?:尊敬的|敬爱的|亲爱的|各位)`)

	signOff = lazyregexp.New(`(?i)^(?:(?:with )?(?:best|kind|warm|kindest|warmest)(?: regards| wishes)?|regards|` +
		`cheers|(?:yours )?(?:sincerely|faithfully|truly)(?: yours)?|yours|many thanks|best of luck|all the best|love|` +
		`lots of love|take care|see you(?: soon)?|talk soon|hugs|xo+(?:xo*)?|warmly)(?:[,.!]?|, \S+)$|` +
		`^(?:此致|敬礼|祝好|顺祝|商祺|敬上|谨上|祝您?.{0,8}[！!]?)$`)
)

// No sign-off and no salutation is longer, in bytes.
const (
	longestSignOff    = 60
	longestSalutation = 160
)

func isSignOff(text string) bool {
	return text != "" && len(text) <= longestSignOff && signOff.MatchString(text)
}

func isAttribution(text string) bool { return endsWith(text, ":：") && attribution.MatchString(text) }

func endsWith(text, marks string) bool {
	last, _ := utf8.DecodeLastRuneInString(text)
	return strings.ContainsRune(marks, last)
}

// mails finds the mails in lines.
type mails struct {
	lines   []line
	signOff []int // by line: the next line with a sign-off, or the number of lines
}

// markMails marks mails: from their first header or salutation to the names after their sign-off, or to the end if
// they have no sign-off.
func markMails(lines []line) {
	m := mails{lines, make([]int, len(lines)+1)}
	m.signOff[len(lines)] = len(lines)
	for i := len(lines) - 1; i >= 0; i-- {
		m.signOff[i] = m.signOff[i+1]
		if isSignOff(lines[i].trimmed()) {
			m.signOff[i] = i
		}
	}
	ownBefore := false
	for i := 0; i < len(lines); i++ {
		switch {
		case !lines[i].isOwn():
		case m.begins(i, ownBefore):
			end, _ := m.end(i)
			mark(lines[i:end], Mail)
			i = end - 1
		default:
			ownBefore = true
		}
	}
}

// begins reports whether a mail begins with a line. A salutation counts only if it is formal or a sign-off follows, and
// if words of the user's own are before or after the mail, since users also address an assistant with a salutation.
func (m *mails) begins(i int, ownBefore bool) bool {
	text := m.lines[i].trimmed()
	switch {
	case hasColon(text) && header.MatchString(text), strings.HasPrefix(text, "---") && forwarded.MatchString(text),
		isAttribution(text), text == "--":
		return true
	case len(text) > longestSalutation || !endsWith(text, ",，:：!！") || !salutation.MatchString(text):
		return false
	}
	end, signed := m.end(i)
	return (signed || formal.MatchString(text)) && (ownBefore || hasOwn(m.lines[end:]))
}

// end returns the index after a mail that begins with a line, and whether a sign-off ends it. If the mail begins with
// an attribution above quoted lines, only the attribution is marked as the mail.
func (m *mails) end(start int) (end int, signed bool) {
	if isAttribution(m.lines[start].trimmed()) && start+1 < len(m.lines) && m.lines[start+1].kind == Quote {
		return start + 1, false
	}
	end = m.signOff[start+1]
	if end == len(m.lines) {
		return end, false
	}
	for end++; end < len(m.lines) && isSignature(m.lines[end].trimmed()); end++ {
		continue
	}
	return end, true
}

// isSignature reports whether a line after a sign-off is a name, a title or an address rather than a sentence.
func isSignature(text string) bool {
	const maxWords, maxHan = 5, 10
	han := strings.IndexFunc(text, isHan) >= 0
	switch {
	case text == "", strings.ContainsAny(text, "?？。"):
		return false
	case han:
		return utf8.RuneCountInString(text) <= maxHan
	}
	return len(strings.Fields(text)) <= maxWords && !strings.HasSuffix(text, ".")
}

func isHan(r rune) bool { return unicode.Is(unicode.Han, r) }
