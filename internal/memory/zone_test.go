package memory

import (
	"testing"
	"time"
	_ "time/tzdata"
)

func TestUserZone_PrefersTheChosenZone(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 2, 1, 6, 30, 0, 0, time.UTC)
	for want, z := range map[string]UserZone{
		"2026-02-01T14:30:00+08:00": {Chosen: "Asia/Shanghai", Offset: "-08:00"},
		"2026-01-31T22:30:00-08:00": {Offset: "-08:00"},
		"2026-02-01T12:00:00+05:30": {Chosen: "Nowhere/Land", Offset: "+05:30"},
	} {
		zone := z.Location()
		if zone == nil {
			t.Errorf("%+v has no zone", z)
			continue
		}
		if got := at.In(zone).Format(time.RFC3339); got != want {
			t.Errorf("%+v: %s, want %s", z, got, want)
		}
	}
	if zone := (UserZone{}).Location(); zone != nil {
		t.Errorf("nothing is known, but the zone is %v", zone)
	}
}

func TestOffsetOf_IsEmptyForUTC(t *testing.T) {
	t.Parallel()
	for at, want := range map[string]string{
		"2026-01-31T22:30:00-08:00": "-08:00", "2026-01-31T22:30:00.5+05:45": "+05:45", "2026-01-31T22:30:00Z": "",
		"2026-01-31T22:30:00+00:00": "", "2026-01-31T22:30:00-00:00": "", "yesterday": "", "": "",
	} {
		if got := OffsetOf(at); got != want {
			t.Errorf("%q: offset %q, want %q", at, got, want)
		}
	}
}

func TestCheckZone_RefusesWhatIsNoName(t *testing.T) {
	t.Parallel()
	for name, valid := range map[string]bool{
		"Europe/Berlin": true, "UTC": true, "Asia/Kolkata": true, "": false, "Local": false, "../etc/passwd": false,
		"Mars/Olympus": false, "+08:00": false, "europe/berlin\x00": false,
	} {
		if complaint := CheckZone(name); (complaint == "") != valid {
			t.Errorf("%q: %q", name, complaint)
		}
	}
	for offset, valid := range map[string]bool{
		"+08:00": true, "-09:30": true, "": false, "Z": false, "8": false, "+25:00": false,
	} {
		if complaint := CheckOffset(offset); (complaint == "") != valid {
			t.Errorf("%q: %q", offset, complaint)
		}
	}
}

func TestTurn_WasSaidWhenItsMessagesWere(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 2, 1, 6, 30, 0, 0, time.UTC)
	early, late := at.Add(-time.Hour), at.Add(time.Hour)
	for name, c := range map[string]struct {
		messages    []time.Time
		first, last time.Time
	}{
		"no message":        {nil, at, at},
		"no own times":      {[]time.Time{{}, {}}, at, at},
		"own times":         {[]time.Time{late, late}, late, late},
		"some in any order": {[]time.Time{late, {}, early}, early, late},
	} {
		turn := Turn{At: at}
		for _, own := range c.messages {
			turn.Messages = append(turn.Messages, Message{At: own})
		}
		if first, last := turn.Said(); !first.Equal(c.first) || !last.Equal(c.last) {
			t.Errorf("%s: said from %v to %v, want %v to %v", name, first, last, c.first, c.last)
		}
	}
}
