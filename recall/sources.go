package recall

// sources are the ways in which a candidate was found.
type sources uint8

const (
	fromOwn sources = 1 << iota // in the database, not confirmed in the vector store
	fromVectors
	fromWords
	fromSkill // the best proven workflow of a skill that another one of was found
)

// names are those that answers tell, in this order.
func (s sources) names() []string { return sourceNames[s] }

var sourceNames = func() (names [1 << 4][]string) {
	for set := range names {
		for i, name := range []string{byOwn, byVector, byWords, bySkill} {
			if set>>i&1 == 1 {
				names[set] = append(names[set], name)
			}
		}
	}
	return names
}()

const (
	byOwn    = "own_write"
	byVector = "vector"
	byWords  = "lexical"
	bySkill  = "skill"
)
