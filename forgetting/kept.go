package forgetting

import (
	"strings"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// Names are names of types or domains of memories, separated by commas. An empty list is "", or the word that the
// settings have for it.
type Names string

// Of joins names.
func Of[T ~string](list []T) Names {
	names := make([]string, len(list))
	for i, name := range list {
		names[i] = string(name)
	}
	return Names(strings.Join(names, ","))
}

// ListOf returns names that are joined.
func ListOf[T ~string](names Names) []T {
	list := []T{}
	for name := range strings.SplitSeq(string(names), ",") {
		if name != "" && name != "none" {
			list = append(list, T(name))
		}
	}
	return list
}

func (n Names) has(wanted string) bool {
	for name := range strings.SplitSeq(string(n), ",") {
		if name == wanted {
			return name != ""
		}
	}
	return false
}

// Keeps reports whether time alone never makes a memory fade: it is exempt, of an excluded type or domain, or says what
// the user is, that is, has a kept type and at least KeepImportance. Its retention falls nevertheless, since the bound
// of a user's memories looks for the lowest.
func (r Rule) Keeps(a db.Age) bool {
	return Exempt(a) || r.ExcludeTypes.has(string(a.Type)) || r.ExcludeDomains.has(string(a.Domain)) ||
		a.Importance >= r.KeepImportance && r.KeepTypes.has(string(a.Type))
}

// Exempt reports whether a memory never fades by any rule.
func Exempt(a db.Age) bool {
	return a.Pinned || a.Type == memory.TypeReflection
}
