package forgetting

import (
	"strings"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// Types are names of memory types, separated by commas. An empty list is "", or the word that the settings have for it.
type Types string

// Of joins names of memory types.
func Of(types []memory.Type) Types {
	names := make([]string, len(types))
	for i, name := range types {
		names[i] = string(name)
	}
	return Types(strings.Join(names, ","))
}

// List returns the names.
func (l Types) List() []memory.Type {
	list := []memory.Type{}
	for name := range strings.SplitSeq(string(l), ",") {
		if name != "" && name != "none" {
			list = append(list, memory.Type(name))
		}
	}
	return list
}

func (l Types) has(t memory.Type) bool {
	for name := range strings.SplitSeq(string(l), ",") {
		if name == string(t) {
			return name != ""
		}
	}
	return false
}

// Keeps reports whether time alone never makes a memory fade: it is exempt, of an excluded type, or says what the user
// is, that is, has a kept type and at least KeepImportance. Its retention falls nevertheless, since the bound of a
// user's memories looks for the lowest.
func (r Rule) Keeps(a db.Age) bool {
	return Exempt(a) || r.ExcludeTypes.has(a.Type) || a.Importance >= r.KeepImportance && r.KeepTypes.has(a.Type)
}

// Exempt reports whether a memory never fades by any rule.
func Exempt(a db.Age) bool {
	return a.Pinned || a.Type == memory.TypeReflection
}
