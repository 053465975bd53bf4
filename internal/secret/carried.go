package secret

import (
	"strings"

	"hippocampus/internal/lazyregexp"
)

var (
	userinfo = lazyregexp.New(`\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/:@"'<>]*:([^\s/?"'<>]+)@[\w\[]`)
	// header matches the name of a header and a scheme, or a scheme alone.
	header = lazyregexp.New(`(?i)\b(?:authorization["']?\s{0,3}[:=]\s{0,3}["']?` +
		`(?:(?:basic|bearer|token|api-?key|digest)\s+)?|bearer\s+)([A-Za-z0-9._~+/=-]{8,})`)
	// option matches an option of a command with a user's password.
	option = lazyregexp.New(`\b(?:curl|wget|http)\b[^\n]*?\s(?:-u|--user)[ =]?["']?[^\s:"']+:([^\s"'\x60]{3,})|` +
		`\b(?:mysql|mysqldump|sshpass)\b[^\n]*?\s-p ?["']?([^\s"'-][^\s"']{3,})`)
)

// carried finds the password in a URL, in an HTTP header and in the options of a command.
func carried(text, lower string) (spans []span) {
	if strings.Contains(text, "://") && strings.Contains(text, "@") {
		for _, match := range userinfo.FindAllStringSubmatchIndex(text, -1) {
			if isNoExample(text[match[2]:match[3]]) {
				spans = append(spans, span{match[2], match[3], URLPassword})
			}
		}
	}
	if strings.Contains(lower, "authorization") || strings.Contains(lower, "bearer") {
		for _, match := range header.FindAllStringSubmatchIndex(text, -1) {
			value := strings.TrimRight(text[match[2]:match[3]], ".")
			if isRandom(value, 12) && isNoExample(value) {
				spans = append(spans, span{match[2], match[2] + len(value), Credentials})
			}
		}
	}
	if hasAny(text, []string{" -u", "--user", " -p"}) {
		for _, match := range option.FindAllStringSubmatchIndex(text, -1) {
			start, end := max(match[2], match[4]), max(match[3], match[5])
			if isNoExample(text[start:end]) {
				spans = append(spans, span{start, end, Credentials})
			}
		}
	}
	return spans
}
