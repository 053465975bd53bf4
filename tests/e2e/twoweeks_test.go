package e2e

import "testing"

// Three users and two agents live for two weeks, in 40 talks in Chinese and
// English, with one server, two, and one again, of which some die and all are
// restarted; each size ends with the same memories, as the script has them.
func TestTwoWeeks_EndInGoldenDocuments(t *testing.T) {
	script := readScript(t)
	program := clockedBinary(t)
	onEachSize(t, func(t *testing.T, size size) {
		l := newLife(t, size, program, script)
		for _, e := range script {
			l.live(e)
		}
		l.golden()
		l.check()
	})
}
