package secret

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"hippocampus/internal/lazyregexp"
)

const (
	reach     = 240 // bytes after a name that are read for its value
	reachBack = 120 // bytes before a name that are read for its value
	near      = 80  // bytes after a name in which a long key is its value, whatever is between
)

// stated finds the values that a text gives to names of secrets.
func stated(text, lower string) (spans []span) {
	eachName(lower, func(start, end int, f *form) { spans = append(spans, valuesOf(text, start, end, f)...) })
	return spans
}

// valuesOf returns the values of the name between start and end.
func valuesOf(text string, start, end int, f *form) (spans []span) {
	after := text[end:cutBefore(text, end+reach)]
	within := isWord(text[start]) && start > 0 && isWord(text[start-1]) ||
		isWord(text[end-1]) && after != "" && isWord(after[0]) // a part of a name, such as DB_PASSWORD or secretKey
	if at, sign := assignment(after); at > 0 && (!within || f.inNames) {
		l := link{at: at, assigned: true, equal: strings.Contains(sign, "=") || strings.HasPrefix(sign, `"`)}
		l.env = l.equal && isUpper(text[start:end])
		if v, ok := f.value(after[at:], l); ok {
			return []span{v.span(end+at, f)}
		}
	}
	if within || f == passes {
		return nil
	}
	for _, l := range append(verbs(after), chineseVerb(after)...) {
		if v, ok := f.value(after[l.at:], l); ok {
			spans = append(spans, v.span(end+l.at, f))
		}
	}
	if spans != nil {
		return spans
	}
	if !isWord(text[end-1]) && f == passwords { // 门锁密码4711
		if v, ok := read(after); ok && !v.quoted() && mixOf(v.text).letters == 0 && f.has(v.text) &&
			clauseEnd.MatchString(v.rest) && !year.MatchString(v.text) {
			return []span{v.span(end, f)}
		}
	}
	gap := leading(after, " \t", 3)
	if v, ok := read(after[gap:]); ok && f.adjoins(v.text) {
		return []span{v.span(end+gap, f)}
	}
	from := cutAfter(text, start-reachBack)
	if v, ok := f.before(text[from:start]); ok {
		return []span{v.span(from, f)}
	}
	return f.near(after, end)
}

// link says how a text connects a name with a value.
type link struct {
	at       int  // where the value begins
	assigned bool // by an equals sign or a colon
	equal    bool // by an equals sign, or as a field of JSON
	env      bool // the name is in capitals, as in an environment
	words    bool // by a verb after which a plain word may be the value
}

// value is a text that may be a secret.
type value struct {
	text  string
	start int    // index of its first byte in the text that was read; above 0 if it is quoted
	rest  string // what follows it
}

func (v value) span(place int, f *form) span {
	return span{place + v.start, place + v.start + len(v.text), f.kind}
}

func (v value) quoted() bool { return v.start > 0 }

var (
	nextPair = lazyregexp.New(`[&;,]\w+[=:]|;`)
	quotes   = map[rune]string{'"': `"`, '\'': `'`, '`': "`", '“': "”", '「': "」", '『': "』", '‘': "’"}
)

// read reads a value at the beginning of a text: a quoted text, or else the text before a space.
func read(text string) (value, bool) {
	first, size := utf8.DecodeRuneInString(text)
	if closing, ok := quotes[first]; ok {
		length := strings.Index(text[size:], closing)
		if length < 1 || length > 160 || strings.Contains(text[size:size+length], "\n") {
			return value{}, false
		}
		return value{text[size : size+length], size, text[size+length:]}, true
	}
	found := text
	if end := strings.IndexFunc(text, endsValue); end >= 0 {
		found = text[:end]
	}
	if strings.ContainsAny(found, "&;,") {
		if pair := nextPair.FindStringIndex(found); pair != nil {
			found = found[:pair[0]]
		}
	}
	found = strings.TrimRight(found, ".,;:!?)]}'*`’…")
	return value{found, 0, text[len(found):]}, found != ""
}

func endsValue(r rune) bool {
	return r <= ' ' || r == '"' || r >= utf8.RuneSelf &&
		(unicode.Is(unicode.Han, r) || unicode.IsSpace(r) || strings.ContainsRune("，。；、！？：“”「」『』（）《》", r))
}

// value returns the value at the beginning of a text, if it has the form.
func (f *form) value(text string, l link) (value, bool) {
	v, ok := read(text)
	if !ok {
		return v, false
	}
	if whole := f.several(text); whole != "" && !v.quoted() {
		return value{text: whole}, true
	}
	isAssigned := l.equal && (l.env || f != passwords && f != phrases) && len(v.text) >= 4 && f.assigns(v.text)
	if !f.has(v.text) && !isAssigned && (!f.words || !f.isWords(v, l)) || f.alone && !clauseEnd.MatchString(v.rest) {
		return v, false
	}
	if (f == passwords || f == germanPasswords) && !v.quoted() {
		v = v.withSigns(l)
	}
	return v, true
}

// several returns a value of several words or groups of digits at the beginning of a text, or "".
func (f *form) several(text string) string {
	switch f {
	case codes:
		return spacedCode.FindString(text)
	case phrases:
		return phraseOf(text)
	}
	return ""
}

// withSigns returns a value with the signs after it, unless a sentence ends there: "password is Tr4in! and".
func (v value) withSigns(l link) value {
	if signs := signsAfter.FindString(v.rest); signs != "" && (l.equal || goesOn.MatchString(v.rest[len(signs):])) {
		v.text, v.rest = v.text+signs, v.rest[len(signs):]
	}
	return v
}

var (
	spacedCode = lazyregexp.New(`^\d{3}[ -]\d{3}\b`)
	signsAfter = lazyregexp.New(`^[!?*]+`)
	goesOn     = lazyregexp.New(`^(?:[ \t]+[a-z]|[,，;；])`)
)

// before returns the value in front of a name: "hunter2 is my password", 4821是我的密码.
func (f *form) before(text string) (value, bool) {
	place, found := placeBefore(text)
	v := value{text: strings.Trim(found, "\"'“”‘’`(")}
	if v.text == "" || year.MatchString(v.text) || !f.has(v.text) {
		return v, false
	}
	v.start = place + strings.Index(found, v.text)
	return v, true
}

// near returns the long keys soon after a name, whatever is between: "the token I use there is ...".
func (f *form) near(after string, end int) (spans []span) {
	if f.least == 0 {
		return nil
	}
	if run, _ := look(after); run < f.least {
		return nil
	}
	if stop := sentenceEnd.FindStringIndex(after); stop != nil {
		after = after[:stop[0]]
	}
	for _, match := range longKey.FindAllStringSubmatchIndex(after, -1) {
		v := strings.TrimRight(after[match[2]:match[3]], ".=")
		if match[2] < near && isRandom(v, f.least) && !uuid.MatchString(v) && isNoExample(v) &&
			!digestWord.MatchString(after[:match[2]]) {
			spans = append(spans, span{end + match[2], end + match[2] + len(v), f.kind})
		}
	}
	return spans
}

var (
	sentenceEnd = lazyregexp.New(`[.!?]\s|[。！？\n]`)
	longKey     = lazyregexp.New(`(?:^|[\s"'\x60“「（(：，是为])([A-Za-z0-9_+/=.~-]{20,160})`)
	// digestWord matches words for values that are as long as a key, and no secret.
	digestWord = lazyregexp.New(`(?i)(?:commit|revision|sha-?\d*|hash|digest|checksum|md5|version|build|branch|` +
		`tag|id|uuid|file|path|提交|哈希|摘要|版本)\W{0,3}$`)
)

func isWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
}

func isUpper(name string) bool { return name == strings.ToUpper(name) && name != strings.ToLower(name) }
