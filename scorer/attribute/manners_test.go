package attribute

import "testing"

func TestContradicted_ComparesStandingRequests(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		older, newer string
		want         bool
	}{
		{older: "Please keep your answers short.", newer: "From now on, give me long, detailed answers.", want: true},
		{older: "Always explain things in detail.", newer: "Be more concise in general.", want: true},
		{older: "Never use emojis.", newer: "You can use emojis again from now on.", want: true},
		{older: "Don't use emojis.", newer: "You can use emojis again from now on.", want: true},
		{older: "Always answer in bullet points.", newer: "Stop using bullet points.", want: true},
		{older: "Use Celsius whenever you give me temperatures.", newer: "Use Fahrenheit from now on.", want: true},
		{older: "Always use metric units.", newer: "From now on, use imperial units.", want: true},
		{older: "In future, use British spelling.", newer: "In future, use American spelling.", want: true},
		{older: "I'd like you to address me formally.", newer: "Talk to me casually.", want: true},
		{older: "以后回答简短一点。", newer: "以后回答详细一点。", want: true},
		{older: "别用表情符号。", newer: "以后都用表情符号。", want: true},
		{older: "Please keep your answers short.", newer: "以后回答详细一点。", want: true},
		{older: "请用公制单位。", newer: "From now on, use miles.", want: true},

		{older: "Please keep your answers short.", newer: "Be more concise in general."},
		{older: "Please keep your answers short.", newer: "Never apologise in your replies."},
		{older: "Please keep your answers short.", newer: "Your answers are too long."},
		{older: "Your answers are too long.", newer: "Your answers are too short."},
		{older: "Please keep your answers short.", newer: "Write a long poem."},
		{older: "Never use emojis.", newer: "Stop using emojis."},
		{older: "Always use metric units.", newer: "In future, use British spelling."},
		{older: "Always answer in bullet points.", newer: "Never use emojis."},
		{older: "以后回答简短一点。", newer: "以后叫我老王。"},
		{older: "别用表情符号。", newer: "以后回答详细一点。"},
		{older: "跟我讲话用敬语。", newer: "以后回答简短一点。"},
	} {
		if _, got := Contradicted(Of(c.older), Of(c.newer)); got != c.want {
			t.Errorf("%s, then %s: %t (%v, %v)", c.older, c.newer, got, Of(c.older), Of(c.newer))
		}
	}
}
