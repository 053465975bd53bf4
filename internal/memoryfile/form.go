package memoryfile

import (
	"net/url"
	"strings"

	"hippocampus/internal/memory"
)

// Instruction is the type of a shown instruction, which is not a memory.
const Instruction memory.Type = "instruction"

// Form says which memories a file shows, and in which sections.
type Form struct {
	Name     string      // of the file
	version  string      // of the format, in the front matter
	fallback memory.Type // of a bullet in no section
	sections []section
}

// section is the heading above the statements of a type.
type section struct {
	kind    memory.Type
	heading string
}

// Memories shows all that is remembered about a user, except messages.
var Memories = &Form{Name: "memory.md", version: "1", fallback: memory.TypeFact, sections: []section{
	{"preference", "Preferences"}, {memory.TypeFact, "Facts"}, {"decision", "Decisions"}, {"task", "Tasks"},
	{"project", "Projects"}, {memory.TypeSkill, "Skills"}, {"pattern", "Patterns"}, {"insight", "Insights"},
	{"reflection", "Reflections"}, {"summary", "Summaries"}, {"observation", "Observations"},
	{"tool_use", "Tool use"}, {"error", "Errors"},
}}

// Learnings shows how things are to be done for a user: the instructions, and the memories of what worked or failed.
var Learnings = &Form{Name: "learnings.md", version: "1-learnings", fallback: memory.TypeSkill, sections: []section{
	{Instruction, "Instructions"}, {memory.TypeSkill, "Skills"}, {"tool_use", "Tool use"}, {"error", "Errors"},
}}

// Types lists the types of memories that a file of the form shows.
func (f *Form) Types() []memory.Type {
	var types []memory.Type
	for _, s := range f.sections {
		if s.kind != Instruction {
			types = append(types, s.kind)
		}
	}
	return types
}

// HasInstructions reports whether a file of the form shows instructions.
func (f *Form) HasInstructions() bool { return f.sections[0].kind == Instruction }

// typeOf returns the type that a heading names, in the plural or the singular; empty for another heading.
func (f *Form) typeOf(heading string) memory.Type {
	heading = strings.TrimSpace(heading)
	for _, s := range f.sections {
		if strings.EqualFold(heading, s.heading) || strings.EqualFold(heading, string(s.kind)) {
			return s.kind
		}
	}
	return ""
}

const instructionID = "i:"

// IDOfInstruction returns the id of a shown instruction.
func IDOfInstruction(name string) string { return instructionID + url.PathEscape(name) }

// NameOfInstruction returns the name of the instruction that an id stands for; ok is false for the id of a memory.
func NameOfInstruction(id string) (name string, ok bool) {
	escaped, ok := strings.CutPrefix(id, instructionID)
	if !ok {
		return "", false
	}
	name, err := url.PathUnescape(escaped)
	return name, err == nil
}
