package frame

import (
	"regexp"
	"testing"
)

func TestSecret_IsLongAndHashed(t *testing.T) {
	t.Parallel()
	a, b := NewSecret(), NewSecret()
	if !regexp.MustCompile(`^hp_[0-9a-f]{64}$`).MatchString(a) || a == b {
		t.Errorf("secrets %q, %q", a, b)
	}
	if got := HashKey("abc"); got != "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" { // FIPS 180-4
		t.Errorf("hash %s", got)
	}
}
