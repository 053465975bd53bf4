package frame

import (
	"strings"
	"testing"
)

// What is wrong with the end of a shelf life names both forms that are allowed, and what is wrong with another time
// names the one form.
func TestChecks_ExpiryNamesTheFormsOfAnEnd(t *testing.T) {
	t.Parallel()
	for value, isRight := range map[string]bool{
		"": true, "2027-05-03": true, "2027-05-03T08:00:00+02:00": true, "2027-02-30": false, "3 May 2027": false,
		"2027-05-03T08:00": false,
	} {
		var c Checks
		c.Expiry("expires_at", value)
		if (len(c.faults) == 0) != isRight || !isRight && !strings.Contains(c.faults[0].Message, "neither a day, such as ") {
			t.Errorf("%q: %v", value, c.faults)
		}
	}
	var c Checks
	c.Time("at", "2027-05-03")
	if len(c.faults) != 1 || strings.Contains(c.faults[0].Message, "a day") {
		t.Errorf("a day is no time: %v", c.faults)
	}
}
