package todo

import "testing"

func TestOf(t *testing.T) {
	t.Parallel()
	for statement, want := range map[string]State{
		"I need to renew my passport before the summer.": Open,
		"We've got to book the venue":                    Open,
		"I’m supposed to bring the salad.":               Open,
		"Remind me to call the plumber.":                 Open,
		"Don't let me forget the plants":                 Open,
		"I haven't replied to Vera yet.":                 Open,
		"The smoke detector needs a new battery.":        Open,
		"我得还图书馆的书。":                                      Open,
		"提醒我给水管工打电话":                                     Open,
		"窗帘还没订。":                                         Open,
		"周末之前要把衣服取回来。":                                   Open,
		"I have to take a pill every morning.":           Nothing,
		"I must admit that I like it.":                   Nothing,
		"I don't need to renew it.":                      Nothing,
		"She needs to call me.":                          Nothing,
		"Do I need to renew it?":                         Nothing,
		"I like tea.":                                    Nothing,
		"我每天要吃药。":                                        Nothing,
		"我觉得很好。":                                         Nothing,
		"I've paid the bill.":                            Done,
		"Finally fixed the tap.":                         Done,
		"The electricity bill is paid.":                  Done,
		"I had to renew my passport.":                    Nothing,
		"电费交了。":                                          Done,
		"已经报名会议。":                                        Done,
	} {
		if got := Of(statement); got != want {
			t.Errorf("%q: %d, want %d", statement, got, want)
		}
	}
}

func TestFor(t *testing.T) {
	t.Parallel()
	for question, want := range map[string]Asked{
		"What do I still need to do?":                 Everything,
		"What's on my to-do list?":                    Everything,
		"Is there anything I still have to handle?":   Everything,
		"我还有什么事没做？":                                   Everything,
		"我的待办事项有哪些？":                                  Everything,
		"What do I still have to do around the flat?": OfTopic,
		"What do I need to do to renew my passport?":  OfTopic,
		"搬家还有什么没做？":                                   OfTopic,
		"What should I eat tonight?":                  NotAsked,
		"Where do I live?":                            NotAsked,
		"我住在哪里？":                                      NotAsked,
	} {
		if got := For(question); got != want {
			t.Errorf("%q: %d, want %d", question, got, want)
		}
	}
}
