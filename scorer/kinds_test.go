package scorer

import (
	"testing"

	"hippocampus/internal/memory"
)

// What the user likes is a preference in every domain, and a name or an allergy is a fact.
func TestKindOf_Tastes(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]memory.Type{
		"I love jazz.": aPreference, "I don't like crowds.": aPreference, "My favourite colour is green.": aPreference,
		"I can't stand coriander.": aPreference, "我不喜欢人多的地方。": aPreference,
		"I'd like to ask for leave.": aFact, "The office looks like a ship.": aFact, "I live in Porto.": aFact,
	} {
		for _, domain := range []memory.Domain{memory.Lifestyle, memory.Profession, memory.Social} {
			if kind, _ := kindOf(said, domain); kind != want {
				t.Errorf("%q is a %s in %s, want %s", said, kind, domain, want)
			}
		}
	}
}

// What has happened is no task.
func TestKindOf_Tasks(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]memory.Type{
		"Mira was born on Saturday at 4:12 am.": aFact, "I sold the car today for 7,800.": aFact,
		"I took the exam last week.": aFact, "我昨天交了报告。": aFact,
		"I need to renew my passport before October.": aTask, "The report is due on Friday.": aTask,
		"We decided to postpone the trip.": aDecision, "我周五要交报告。": aTask,
	} {
		if kind, _ := kindOf(said, memory.Tasks); kind != want {
			t.Errorf("%q is a %s, want %s", said, kind, want)
		}
	}
}

// A statement about what a user is gets an importance that is high enough for forgetting to keep it.
func TestImportance_OfWhatAUserIs(t *testing.T) {
	t.Parallel()
	const kept = 0.83 // default of forgetting.keep_importance
	for said, domain := range map[string]memory.Domain{
		"My name is Ada.": memory.Preferences, "I am allergic to peanuts.": memory.Preferences,
		"My daughter Mia is six.": memory.Social, "We got married in May.": memory.Social, "我女儿叫小满。": memory.Social,
		"I work as a nurse.": memory.Profession, "I live in Porto.": memory.Lifestyle, "I have diabetes.": memory.Lifestyle,
	} {
		if kind, importance := kindOf(said, domain); importance < kept || kind != aFact {
			t.Errorf("%q is a %s of importance %v", said, kind, importance)
		}
	}
	for said, domain := range map[string]memory.Domain{
		"I like green tea.": memory.Preferences, "A colleague was on the phone.": memory.Social,
	} {
		if _, importance := kindOf(said, domain); importance >= kept {
			t.Errorf("%q has an importance of %v", said, importance)
		}
	}
}
