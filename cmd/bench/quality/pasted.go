package quality

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// The kinds of text that prompts have around their question.
var pastes = []string{"code", "a log", "mail", "own words"}

// paste returns at least the given number of characters of a kind of text, equal for equal seeds; "" for 0.
func paste(kind string, characters, seed int) string {
	r := rand.New(rand.NewPCG(uint64(seed), uint64(len(kind))))
	pick := func(words string) string {
		list := strings.Fields(words)
		return list[r.IntN(len(list))]
	}
	var b strings.Builder
	for b.Len() < characters {
		switch kind {
		case "code":
			name := pick("parse load merge apply fetch store")
			fmt.Fprintf(&b, "func %s%s(ctx context.Context, id string) error {\n\trow, err := db.Query(ctx, %d, id)\n"+
				"\tif err != nil {\n\t\treturn fmt.Errorf(\"%s: %%w\", err)\n\t}\n\treturn row.Close()\n}\n\n",
				name, pick("Order User Invoice Session Report"), r.IntN(1000), name)
		case "a log":
			fmt.Fprintf(&b, "2026-03-%02dT%02d:%02d:%02dZ ERROR %s: %s (attempt %d of 5)\n", 1+r.IntN(28), r.IntN(24),
				r.IntN(60), r.IntN(60), pick("billing search auth queue gateway"),
				pick("timeout refused NullPointerException unavailable"), 1+r.IntN(5))
			if r.IntN(4) == 0 {
				fmt.Fprintf(&b, "  at com.acme.%s.Worker.run(Worker.java:%d)\n", pick("billing search auth"), r.IntN(900))
			}
		case "own words":
			b.WriteString(ownLines[r.IntN(len(ownLines))])
		default:
			if b.Len() == 0 {
				b.WriteString("From: Priya Nair <priya@example.org>\nTo: team@example.org\nSubject: Next steps\n\nHi all,\n\n")
			}
			b.WriteString(mailLines[r.IntN(len(mailLines))])
		}
	}
	if kind == "mail" && b.Len() > 0 {
		b.WriteString("Best regards,\nPriya Nair\n")
	}
	return b.String()
}

// mailLines are paragraphs of a mail between strangers. They name people and places, and ask.
var mailLines = []string{
	"The offer for the Lindgren account goes out on Thursday, once Marek has looked at the numbers.\n\n",
	"Could somebody book the small room in Hamburg for the review?\n\n",
	"Please send me the slides by noon. Oskar needs them for the printer.\n\n",
	"I spoke to Henrike yesterday, and she is fine with moving the launch to the second week.\n\n",
	"Who takes over the newsletter while Bettina is on leave?\n\n",
	"We had a great time at the fair in Leipzig; thanks to everyone who helped at the stand.\n\n",
	"The warehouse in Rotterdam reports that twelve pallets are missing. Can you call them, Jonas?\n\n",
	"Attached are the minutes. What did I forget?\n\n",
}

// ownLines are other things that users say.
var ownLines = []string{
	"Thanks for the help earlier with the ingress of Contoso and the Grafana board of Fabrikam. ",
	"It has been a long day, the train to Malmö was late again, and I only had a sandwich. ",
	"I finally finished the book that Henrike gave me. It was better than I thought!\n\n",
	"We painted the hallway over the weekend, and Bettina says that the colour is too dark. ",
	"My back hurts a little, so I will keep this short. ",
	"The neighbours have a new dog that barks at every tram.\n\n",
	"Marek and I are thinking about a trip to the Faroe Islands, but nothing is booked yet. ",
	"I tried the lentil soup from last time, and it worked. ",
}

// inPrompt puts a question after, before or in the middle of at least the given number of pasted characters.
func inPrompt(question, kind string, characters, seed int) string {
	switch {
	case characters == 0:
		return question
	case seed%3 == 0:
		return paste(kind, characters, seed) + "\n" + question
	case seed%3 == 1:
		return question + "\n\n" + paste(kind, characters, seed)
	}
	return paste(kind, characters/2, seed) + "\n" + question + "\n\n" + paste(kind, characters/2, seed+1)
}
