package asked

import "testing"

func TestFor_ReadsWhatAQuestionAsksFor(t *testing.T) {
	t.Parallel()
	for question, want := range map[string]Kind{
		"What's my email address?":       Address,
		"我的邮箱是什么？":                       Address,
		"How old am I?":                  Number,
		"What number can you call me at": Number,
		"我多大了？":                          Number,
		"When is my thesis due?":         Time,
		"我一般几点睡觉？":                       Time,
		"Do I have a cat?":               Truth,
		"Haben wir einen Hund?":          Truth,
		"Wo arbeite ich?":                Other,
		"我养猫吗？":                          Truth,
		"Which city do I live in?":       Name,
		"Who do I work for?":             Name,
		"What's my favourite food?":      Other,
		"我最爱吃什么？":                        Other,
	} {
		if got := For(question); got != want {
			t.Errorf("%q: %d, want %d", question, got, want)
		}
	}
}

func TestIsNewIn_FindsValuesThatTheEarlierTextLacks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind           Kind
		later, earlier string
		want           bool
	}{
		{Name, "I moved from Leeds to York.", "My flat is in Leeds.", true},
		{Name, "I cleaned the flat in Leeds.", "My flat is in Leeds.", false},
		{Name, "Well, I'm tired, I'd say.", "My flat is in Leeds.", false},
		{Address, "Write to hello@jonas.example.", "I read mail at office@jonas.example.", true},
		{Number, "I turned thirty-five.", "I'm 34.", true},
		{Number, "昨天过了29岁生日。", "我今年28岁。", true},
		{Number, "我很好。", "我今年28岁。", false},
		{Time, "It's on Monday now.", "The fitters come on Thursday.", true},
		{Time, "师傅改时间了，下周一才到。", "装修师傅周四来。", true},
		{Truth, "It is 5 o'clock in York.", "I know.", false},
		{Other, "It is 5 o'clock in York.", "I know.", false},
	} {
		if got := c.kind.IsNewIn(c.later, c.earlier); got != c.want {
			t.Errorf("%d in %q after %q: %t, want %t", c.kind, c.later, c.earlier, got, c.want)
		}
	}
}

func TestForAnything_IsNotForQuestionsThatNameSomething(t *testing.T) {
	t.Parallel()
	for question, want := range map[string]bool{
		"What do I have on ?":               true,
		"What's my schedule for ?":          true,
		"Am I free ?":                       true,
		"How was it ?":                      true,
		"Walk me through ":                  true,
		"Did anything interesting happen ?": true,
		"What did we talk about ?":          true,
		"我 有什么安排？":                          true,
		" 我跟你说过什么":                          true,
		"帮我总结一下 ":                           true,
		"What did I eat ?":                  false,
		"How far did I run ?":               false,
		"What did I spend ?":                false,
		"Who did I meet ?":                  false,
		"Is the rent due  or ?":             false,
		"What do we have on with Tom ?":     false,
		" 我去了上海吗？":                          false,
		" 吃了什么":                             false,
		"会计 来吗？":                            false,
	} {
		if got := ForAnything(question); got != want {
			t.Errorf("%q: %v, want %v", question, got, want)
		}
	}
}
