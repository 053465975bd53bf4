package config

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestDefaultIsValid(t *testing.T) {
	t.Parallel()
	if err := Default().Validate(); err != nil {
		t.Error(err)
	}
}

func TestEverySettingHasARule(t *testing.T) {
	t.Parallel()
	c := Default()
	for _, s := range settings {
		if _, ok := rules[s.key]; ok == (s.of(&c).Kind() == reflect.Bool) {
			t.Errorf("%s: has a rule: %v", s.key, ok)
		}
	}
	for key := range rules {
		if _, ok := byKey[key]; !ok {
			t.Errorf("there is a rule for %s, which is no setting", key)
		}
	}
}

func TestValidateNamesTheSetting(t *testing.T) {
	t.Parallel()
	c := Default()
	c.Gate.Threshold = 1.5
	const want = "setting gate.threshold is 1.5: give a number from 0 to 1"
	if err := c.Validate(); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestSecretsAreHidden(t *testing.T) {
	t.Parallel()
	c := Default()
	c.AdminKey, c.Chat.APIKey, c.Embedding.APIKey = "hush-1", "hush-2", "hush-3"
	c.Chat.BaseURL = "https://me:hush-4@chat/v1"
	for _, database := range []string{
		"postgres://me:hush-5@db/x", "postgres://db/x?user=me&password=hush-6",
		"postgres://me:hush%7@db/x", "me:hush-8@db/x", "postgres:me:hush-9@db",
	} {
		c.Database.URL = database
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
			if text := fmt.Sprintf(verb, c); strings.Contains(text, "hush") {
				t.Errorf("%s tells a secret: %s", verb, text)
			}
			if text := fmt.Sprintf(verb, &c); strings.Contains(text, "hush") {
				t.Errorf("%s of a pointer tells a secret: %s", verb, text)
			}
		}
	}
	if text := Default().String(); !strings.Contains(text, "recall.limit: 10\n") || !strings.Contains(text, "admin_key: \"\"\n") {
		t.Errorf("String leaves settings out: %s", text)
	}
}

// What String prints, but for secrets, is what Load reads.
func TestStringRoundTrips(t *testing.T) {
	t.Parallel()
	flags := map[string]string{}
	for line := range strings.Lines(Default().String()) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		flags[key] = strings.Trim(value, `"`)
	}
	c, err := Load(Sources{Flags: flags})
	if err != nil || c != Default() {
		t.Errorf("got %v, error %v", c, err)
	}
}

func TestDistance(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"a", "", 1}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2}, {"recall.limt", "recall.limit", 1},
	} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-c]{0,6}`)
		a, b, c := word.Draw(t, "a"), word.Draw(t, "b"), word.Draw(t, "c")
		if (distance(a, b) == 0) != (a == b) || distance(a, b) != distance(b, a) || distance(a, c) > distance(a, b)+distance(b, c) {
			t.Fatalf("no metric: %q %q %q", a, b, c)
		}
	})
}
