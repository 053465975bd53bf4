package terminal_test

import (
	"strings"
	"testing"
	"time"

	"hippocampus/cmd/hippocampus/terminal"
)

func TestText_IsMeasuredCutAndWrappedByColumns(t *testing.T) {
	t.Parallel()
	if got := terminal.Truncate("我对花生过敏", 8); got != "我对花…" || terminal.Width(got) != 7 {
		t.Errorf("cut to 8 columns: %q", got)
	}
	if got := terminal.Truncate("peanuts", 7); got != "peanuts" {
		t.Errorf("a line that fits is cut to %q", got)
	}
	wrapped := terminal.Wrap("Likes tea and 我对花生过敏，周末喜欢爬山。\n\nunbreakablewords", 10)
	for _, line := range wrapped {
		if terminal.Width(line) > 10 && line != "unbreakablewords" {
			t.Errorf("the line %q is wider than 10 columns", line)
		}
	}
	want := strings.Join(strings.Fields("Likes tea and 我对花生过敏，周末喜欢爬山。 unbreakablewords"), "")
	if got := strings.ReplaceAll(strings.Join(wrapped, ""), " ", ""); got != want {
		t.Errorf("the lines hold %q", got)
	}
}

func TestLine_HasNoControlCharacters(t *testing.T) {
	t.Parallel()
	if got := terminal.Line("a\x1b]0;title\x07\u202eb\r\nc\u0085d\u2028e"); got != "a ]0;title b c d e" {
		t.Errorf("got %q", got)
	}
	if got := terminal.Text("a\x1b[2J\nb\tc"); got != "a [2J\nb c" {
		t.Errorf("got %q", got)
	}
}

func TestScreen_FollowsTheEnvironment(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		env     map[string]string
		colours bool
		width   int
	}{
		"a pipe":                       {nil, false, 0},
		"CLICOLOR_FORCE":               {map[string]string{"CLICOLOR_FORCE": "1"}, true, 0},
		"CLICOLOR_FORCE=0":             {map[string]string{"CLICOLOR_FORCE": "0"}, false, 0},
		"NO_COLOR with CLICOLOR_FORCE": {map[string]string{"NO_COLOR": "1", "CLICOLOR_FORCE": "1"}, false, 0},
		"COLUMNS":                      {map[string]string{"COLUMNS": "40"}, false, 40},
	} {
		getenv := func(name string) string { return row.env[name] }
		screen := terminal.NewScreen(&strings.Builder{}, getenv, time.Now())
		if screen.Colours != row.colours || screen.Width != row.width {
			t.Errorf("%s: colours %t, width %d", name, screen.Colours, screen.Width)
		}
	}
}

func TestScreen_DrawsBarsAndTimes(t *testing.T) {
	t.Parallel()
	for share, want := range map[float64]string{-1: "····", 0: "····", 0.5: "██··", 0.53: "██▏·", 1: "████", 2: "████"} {
		if got := terminal.Bar(share, 4); got != want {
			t.Errorf("%v is drawn as %q, want %q", share, got, want)
		}
	}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	screen := terminal.Screen{Now: now}
	if got := screen.Ago(now.Add(-49 * time.Hour)); got != "2 days ago" {
		t.Errorf("got %q", got)
	}
	if got := screen.When(time.Time{}); got != "" {
		t.Errorf("the zero time is %q", got)
	}
}
