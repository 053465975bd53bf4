package measure

import (
	"bytes"
	"os"
	"runtime"
	"testing"
)

func TestMemory_LeavesOutMappedFilesAndCountsPagesOnce(t *testing.T) {
	t.Parallel()
	const smaps = `00400000-02000000 r-xp 00000000 08:01 42                                 /bin/hippocampus
Rss:               30000 kB
Pss:               20000 kB
Anonymous:             0 kB
VmFlags: rd ex mr mw me
c000000000-c008000000 rw-p 00000000 00:00 0 
Rss:               50000 kB
Pss:               50000 kB
Anonymous:         50000 kB
7f0000000000-7f0001000000 r--s 00000000 08:01 43                         /data/my data/hippocampus.db
Rss:               40000 kB
Pss:               20000 kB
Anonymous:             0 kB
7f0002000000-7f0003000000 r--s 00000000 08:01 43                         /data/my data/hippocampus.db
Rss:               40000 kB
Pss:               20000 kB
Anonymous:             0 kB
7f0004000000-7f0005000000 rw-p 00000000 08:01 44                         /lib/libc.so
Rss:                  60 kB
Pss:                  50 kB
Anonymous:            40 kB
7ffd00000000-7ffd00100000 rw-p 00000000 00:00 0                          [stack]
Rss:                 100 kB
Pss:                 100 kB
Anonymous:           100 kB
`
	m, err := memoryOf(smaps, "/bin/hippocampus")
	want := Memory{Proportional: 110_150 << 10, Anonymous: 50_140 << 10, Mapped: 40_010 << 10}
	if err != nil || m != want || m.Own() != 70_140<<10 {
		t.Errorf("%+v, %v, not %+v", m, err, want)
	}
}

func TestMemory_ReadsThisProcess(t *testing.T) {
	t.Parallel()
	held := bytes.Repeat([]byte{1}, 4<<20)
	m, err := Process(os.Getpid()).Memory()
	runtime.KeepAlive(held)
	if err != nil || m.Anonymous < int64(len(held)) || m.Own() < m.Anonymous || m.Proportional < m.Own() {
		t.Errorf("%+v, %v", m, err)
	}
}
