package secret_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"hippocampus/internal/secret"
)

func FuzzCut(f *testing.F) {
	for _, text := range []string{"My password is hunter2!", "PIN：4821", "https://a:b@c", "KEY=\"", "密码是", "İ password=x",
		"-----BEGIN PRIVATE KEY-----", "is my password", "pw\xff", "token: " + strings.Repeat("a1B2", 9)} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		cleaned, kinds := secret.Cut(text)
		if utf8.ValidString(text) && !utf8.ValidString(cleaned) {
			t.Errorf("Cut(%q) is %q, which is no UTF-8", text, cleaned)
		}
		if n := strings.Count(cleaned, secret.Mark) - strings.Count(text, secret.Mark); n > len(kinds) || n < 0 {
			t.Errorf("Cut(%q) is %q with %v", text, cleaned, kinds)
		}
	})
}
