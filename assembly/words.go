package assembly

import (
	"strings"

	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// Group is what memories of some types are shown under, where a context has
// more than one.
type Group int

// The groups, in the order in which a context has them.
const (
	preferences Group = iota
	told
	patterns
	skills
	reflections
	others
	groups // how many there are
)

// groupOf is where memories of a type are shown.
func groupOf(t memory.Type) Group {
	switch t {
	case "preference":
		return preferences
	case "fact", "project":
		return told
	case "pattern":
		return patterns
	case "skill":
		return skills
	case "reflection", "insight", "summary":
		return reflections
	}
	return others
}

// section is what has a heading of its own.
type section int

// The sections, in the order in which a context has them. Messages have no
// events in theirs: each is a message.
const (
	inInstructions section = iota
	inFacts
	inMemories
	inSummary
	inEvents
	sections // how many there are
)

// sectionOf is where an item of a part stands.
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

// words are the server's own words in a context.
type words struct {
	headings [sections]string
	groups   [groups]string
}

var (
	english = words{
		[sections]string{"[Instructions]", "[Facts]", "[Long-term memory]", "[Conversation so far]", "[Latest messages]"},
		[groups]string{"Preferences:", "Facts:", "Patterns:", "Skills:", "Reflections:", "Others:"},
	}
	chinese = words{
		[sections]string{"【指令】", "【事实】", "【长期记忆】", "【对话摘要】", "【最近消息】"},
		[groups]string{"偏好：", "事实：", "规律：", "技能：", "反思：", "其他："},
	}
)

// wordsFor are those of a language, "zh" or "en"; "": of that of what is
// remembered, or else of the instructions.
func wordsFor(language string, contents Contents) words {
	if language == "" {
		var b strings.Builder
		for _, p := range []Part{Facts, Memories, Conversation} {
			for _, item := range contents[p] {
				b.WriteString(item.Text + "\n")
			}
		}
		if b.Len() == 0 {
			for _, item := range contents[Instructions] {
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
