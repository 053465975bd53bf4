package config

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"hippocampus/internal/memory"
	_ "hippocampus/internal/rapidtest" // sets its flags
)

func TestDefault_IsValid(t *testing.T) {
	t.Parallel()
	if faults := Default().validate(nil); faults != nil {
		t.Error(faults)
	}
}

func TestConfig_HasNoRemovedSetting(t *testing.T) {
	t.Parallel()
	for _, key := range removedKeys {
		if _, ok := byKey[key]; ok {
			t.Errorf("%s is a setting", key)
		}
	}
}

// A tag cannot name a constant.
func TestConfig_BoundsLimitsAsTheAPIDoes(t *testing.T) {
	t.Parallel()
	want := fmt.Sprintf("a whole number from 1 to %d", memory.MaxLimit)
	if got := byKey["recall.limit"].rule.want; got != want {
		t.Errorf("recall.limit: %s, want %s", got, want)
	}
}

func TestParseRule_PanicsIfTheTagDoesNotFit(t *testing.T) {
	t.Parallel()
	for name, wrong := range map[string]any{
		"unknown text rule": struct {
			Field string `rule:"nonsense"`
		}{},
		"number without a range": struct {
			Field int `rule:"address"`
		}{},
		"range of another type": struct {
			Field time.Duration `rule:"1..2"`
		}{},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if recover() == nil {
					t.Error("the tag is accepted")
				}
			}()
			parseRule(reflect.TypeOf(wrong).Field(0))
		})
	}
}

func TestValidate_NamesTheSetting(t *testing.T) {
	t.Parallel()
	c := Default()
	c.Gate.Threshold = 1.5
	const want = "setting gate.threshold is 1.5: give a number from 0 to 1"
	if faults := c.validate(nil); len(faults) != 1 || faults[0].Error() != want {
		t.Errorf("got %v, want %s", faults, want)
	}
}

func TestConfig_HidesSecretsWhenPrinted(t *testing.T) {
	t.Parallel()
	c := Default()
	c.AdminKey = "hush-1"
	c.Chat.APIKey = "hush-2"
	c.Embedding.APIKey = "hush-3"
	c.Milvus.Password, c.Milvus.Token, c.Milvus.APIKey = "hush-a", "hush-b", "hush-c"
	c.Chat.BaseURL = "https://me:hush-4@chat/v1"
	for _, database := range []string{
		"postgres://me:hush-5@db/x", "postgres://db/x?user=me&password=hush-6",
		"postgres://me:hush%7@db/x", "me:hush-8@db/x", "postgres:me:hush-9@db",
	} {
		c.Database.URL = database
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
			if text := fmt.Sprintf(verb, c); strings.Contains(text, "hush") {
				t.Errorf("%s shows a secret: %s", verb, text)
			}
			if text := fmt.Sprintf(verb, &c); strings.Contains(text, "hush") {
				t.Errorf("%s of a pointer shows a secret: %s", verb, text)
			}
		}
	}
	text := Default().String()
	if !strings.Contains(text, "recall.limit: 10\n") || !strings.Contains(text, "admin_key: \"\"\n") {
		t.Errorf("String omits settings: %s", text)
	}
}

func TestConfig_StringCanBeLoaded(t *testing.T) {
	t.Parallel()
	flags := map[string]string{}
	for line := range strings.Lines(Default().String()) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		flags[key] = strings.Trim(value, `"`)
	}
	c, err := Load(Sources{Flags: flags})
	if err != nil || !reflect.DeepEqual(c, Default()) {
		t.Errorf("got %v, error %v", c, err)
	}
}
