//go:build noconsole

package console

import "testing"

func TestNew_ReturnsNothingWithoutFiles(t *testing.T) {
	t.Parallel()
	if h, err := New(); h != nil || err != nil {
		t.Errorf("New returned %v, %v", h, err)
	}
}
