package e2e

import "testing"

// Three users and two agents have 40 talks in Chinese and English within two weeks,
// first with one server, then two, then one again, with kills and restarts. Each size
// ends with the memories that the script expects.
func TestTwoWeeks_EndInGoldenDocuments(t *testing.T) {
	script := readScript(t)
	onOneSize(t, func(t *testing.T, size size) {
		l := newLife(t, size, script)
		for _, e := range script {
			l.live(e)
		}
		l.awaitStated()
		l.golden()
		l.check()
	})
}
