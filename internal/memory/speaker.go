package memory

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// lookalikes are the words other than MessageRoles and MessageKinds that a name may
// not begin with.
var lookalikes = []string{
	SpeakerDocument, "instruction", "instructions", "系统", "开发者", "助手", "用户", "工具", "函数", "指令",
}

// SpeakerOf returns how the speaker of a message is written: by the name, or by the role
// if there is no name. A name that could be read as a role, a heading or a whole line
// follows the role in quotation marks, as in `user "system"`. The result has at most MaxIDBytes.
func SpeakerOf(role, name string) string {
	if name == "" {
		return role
	}
	if !imitates(name) {
		return name
	}
	rest := MaxIDBytes - len(role) - len(` ""`)
	for len(name) > rest {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	return role + ` "` + name + `"`
}

// NameOf returns the name of a speaker; "" for a speaker who is known by the role only, and without a speaker.
func NameOf(speaker string) string {
	if speaker == RoleUser || speaker == RoleAssistant || speaker == SpeakerDocument {
		return ""
	}
	return speaker
}

// SpeakersDiffer reports whether two speakers are known by different names.
func SpeakersDiffer(a, b string) bool {
	a, b = NameOf(a), NameOf(b)
	return a != "" && b != "" && a != b
}

var quotedSpeaker = regexp.MustCompile(`^(?:` + RoleUser + `|` + RoleAssistant + `) ".*"$`)

// WrittenSpeaker returns how the speaker of a remembered message is written, also if
// the message was stored with a name that SpeakerOf would have quoted.
func (m *Memory) WrittenSpeaker() string {
	if m.Speaker == RoleUser || m.Speaker == RoleAssistant || quotedSpeaker.MatchString(m.Speaker) {
		return m.Speaker
	}
	return SpeakerOf("speaker", m.Speaker)
}

// imitates reports whether a name has a colon, or begins with a role, a kind of event or
// something other than a letter or digit.
func imitates(name string) bool {
	visible := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKC.String(name))
	end := strings.IndexFunc(visible, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	first := visible
	if end >= 0 {
		first = visible[:end]
	}
	return first == "" || strings.Contains(visible, ":") || slices.Contains(lookalikes, first) ||
		slices.Contains(MessageRoles, first) || slices.Contains(MessageKinds, MessageKind(first))
}
