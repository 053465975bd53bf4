package assembly

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"hippocampus/internal/heading"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// Group is a heading for memories of some types, shown if a context has several
// groups. Messages have their days as headings instead.
type Group int

// The groups, in the order in which a context has them.
const (
	preferences  Group = heading.Preferences
	statedFacts  Group = heading.StatedFacts
	patterns     Group = heading.Patterns
	skills       Group = heading.Skills
	reflections  Group = heading.Reflections
	others       Group = heading.Others
	messageGroup Group = heading.Messages
	groups       Group = heading.Groups // how many there are
)

// groupOf returns the group of a memory type.
func groupOf(t memory.Type) Group {
	switch t {
	case "preference":
		return preferences
	case "fact", "project":
		return statedFacts
	case "pattern":
		return patterns
	case "skill":
		return skills
	case "reflection", "insight", "summary":
		return reflections
	case memory.TypeMessage:
		return messageGroup
	}
	return others
}

// section is a part of a text with its own heading.
type section int

// The sections, in the order of a context. In a chat request, the instructions are the
// system message, the facts, memories and summary are a message of the user, and each
// event is a message of its own: what is remembered never has the operator's authority.
const (
	inInstructions section = heading.Instructions
	inFacts        section = heading.Facts
	inMemories     section = heading.Memories
	inSummary      section = heading.Summary
	inEvents       section = heading.Events
	sections       section = heading.Sections // how many there are
)

// sectionOf returns the section of an item.
func sectionOf(p Part, i Item) section {
	switch {
	case p == Instructions:
		return inInstructions
	case p == Facts:
		return inFacts
	case p == Memories:
		return inMemories
	case i.Role == "":
		return inSummary
	}
	return inEvents
}

// words are the headings of a context, and what follows a former, repeated or dated statement. All headings but the
// first state that what follows is data.
type words struct {
	headings [sections]string
	groups   [groups]string
	until    string // with %s for a day
	said     string // with %s for one or two days
	and      string // between two days
	since    string // with %s for a day
	repeated string // with %d for a number and %s for a day
	faded    string // of a recollected memory
	asked    string // with %s for a question
	from     string // with %s for the title or URL of a document
	quoted   string // of a document without both
	shared   string // with %s for who contributed a memory of the pool
	orphan   string // if the contributor is not known any more
}

var (
	english = words{
		headings: heading.English.Sections, groups: heading.English.Groups, asked: heading.English.Asked,
		until: " (until %s)", said: " (said on %s)", and: " and ", since: " (since %s)",
		repeated: " (said %d times, last on %s)", faded: " (recalled from long ago)",
		from: ` (from "%s")`, quoted: " (from a document)",
		shared: " (shared by %s)", orphan: " (shared by the team)",
	}
	chinese = words{
		headings: heading.Chinese.Sections, groups: heading.Chinese.Groups, asked: heading.Chinese.Asked,
		until: "（至 %s）", said: "（%s 说）", and: " 和 ", since: "（自 %s）",
		repeated: "（说过 %d 次，最近是 %s）", faded: "（想起来的旧事）",
		from: "（出自“%s”）", quoted: "（出自文档）",
		shared: "（%s 分享）", orphan: "（团队分享）",
	}
)

// mark is what follows the text of an item: who has shared it, and the document that it is from, until when it was
// true, how often it was said, or that it had faded and when it was said; "" for other items.
func (w words) mark(i Item) string {
	if i.Pooled == nil {
		return w.origin(i)
	}
	who := i.Pooled.UserID
	if i.Pooled.AgentID != "" {
		who += "/" + i.Pooled.AgentID
	}
	if i.Pooled.IsOrphan() {
		return w.orphan + w.origin(i)
	}
	return fmt.Sprintf(w.shared, oneLine(memory.SpeakerOf(memory.RoleUser, who))) + w.origin(i)
}

func (w words) origin(i Item) string {
	switch {
	case i.From != nil && i.From.Title == "" && i.From.URL == "":
		return w.quoted
	case i.From != nil:
		return fmt.Sprintf(w.from, oneLine(cmp.Or(i.From.Title, i.From.URL)))
	case !i.Until.IsZero():
		return fmt.Sprintf(w.until, i.Until.Format(time.DateOnly))
	case i.Repeats.Times > 0 && !i.Recollected:
		return fmt.Sprintf(w.repeated, i.Repeats.Times, i.Repeats.Last.Format(time.DateOnly))
	}
	mark := ""
	if i.Recollected {
		mark = w.faded
	}
	if i.Dated {
		days := i.At.Format(time.DateOnly)
		if again := i.Again.Format(time.DateOnly); !i.Again.IsZero() && again != days {
			days += w.and + again
		}
		mark += fmt.Sprintf(w.said, days)
	}
	return mark
}

// wordsFor returns the headings in a language, "zh" or "en". If it is empty, the language is that of the contents, or
// of further items and the instructions if there are no other contents.
func wordsFor(language string, contents Contents, further ...Item) words {
	if language == "" {
		var b strings.Builder
		for _, p := range []Part{Facts, Memories, Conversation} {
			for _, item := range contents[p] {
				b.WriteString(item.Text + "\n")
			}
		}
		if b.Len() == 0 {
			for _, item := range slices.Concat(further, contents[Instructions]) {
				b.WriteString(item.Text + "\n")
			}
		}
		if text.IsChinese(b.String()) {
			language = "zh"
		}
	}
	if language == "zh" {
		return chinese
	}
	return english
}
