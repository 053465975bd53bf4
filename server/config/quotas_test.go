package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hippocampus/internal/memory"
)

func TestAppQuotas_OverrideTheGeneralOnes(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "hippocampus.yaml")
	text := "quotas:\n  users: 10\n  bytes: 100\n  apps:\n    shop: {users: 5, webhooks: 1}\n" +
		"    my.app:\n      bytes: 0\n    7: {versions: 3, chat_tokens: 9}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c := load(t, Sources{File: file, Env: []string{"HIPPOCAMPUS_QUOTAS_BYTES=200"}})
	want := AppQuotas{
		"shop":   {Users: 5, Bytes: 200, Webhooks: 1},
		"my.app": {Users: 10},
		"7":      {Users: 10, Bytes: 200, Versions: 3, ChatTokens: 9},
	}
	if diff := cmp.Diff(want, c.AppQuotas); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(c.String(), "quotas.apps.shop.users: 5\n") {
		t.Errorf("the settings do not list the quotas of an app:\n%s", c)
	}
}

func TestAppQuotas_AreChecked(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"quotas.apps.shop.users":   `shop.users is "-1" (command line): give a whole number from 0 to 1000000000`,
		"quotas.apps.shop.chairs":  "unknown setting quotas.apps.shop.chairs",
		"quotas.apps.users":        "unknown setting quotas.apps.users",
		"quotas.apps..users":       "unknown setting quotas.apps..users",
		"quotas.apps.a\nb.users":   "unknown setting quotas.apps.a b.users",
		"quotas.apps.shop.users.x": "unknown setting quotas.apps.shop.users.x",
	} {
		_, err := Load(Sources{Flags: map[string]string{key: "-1"}})
		if !memory.IsKind(err, memory.KindInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", key, err, want)
		}
	}
}
