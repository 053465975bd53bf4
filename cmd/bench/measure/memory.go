package measure

import (
	"fmt"
	"os"
	"strings"
)

// Memory is the memory of a process, in bytes. A page counts once even if several of the process's mappings show it; a
// SQLite file has a mapping for each connection. A page that several processes share counts in parts.
type Memory struct {
	Proportional int64 `json:"proportional_bytes"` // all of it (PSS)
	Anonymous    int64 `json:"anonymous_bytes"`    // of that, pages of no file: heap, stacks and caches
	Mapped       int64 `json:"mapped_bytes"`       // of that, files other than the program, which the kernel may drop
}

// Own is the memory without mapped files: anonymous pages and the pages of the program.
func (m Memory) Own() int64 { return m.Proportional - m.Mapped }

// Memory reads the mappings of the process.
func (p Process) Memory() (m Memory, err error) {
	program, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", p))
	if err != nil {
		return m, fmt.Errorf("this system does not show the program of process %d: %w", p, err)
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps", p))
	if err != nil {
		return m, fmt.Errorf("this system does not show the memory of process %d: %w", p, err)
	}
	return memoryOf(string(text), program)
}

// memoryOf sums the mappings of /proc/PID/smaps. Each is a line of addresses, permissions, offset, device, inode and
// path, followed by lines of a name with a colon and KiB.
func memoryOf(smaps, program string) (m Memory, err error) {
	path := ""
	for line := range strings.Lines(smaps) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		name, isValue := strings.CutSuffix(fields[0], ":")
		if !isValue {
			path = strings.Join(fields[min(5, len(fields)):], " ")
			continue
		}
		if name != "Pss" && name != "Anonymous" {
			continue
		}
		var kib int64
		if _, err := fmt.Sscan(fields[1], &kib); err != nil {
			return m, fmt.Errorf("%q in smaps: %w", line, err)
		}
		inFile := strings.HasPrefix(path, "/") && path != program
		switch name {
		case "Pss":
			m.Proportional += kib << 10
			if inFile {
				m.Mapped += kib << 10
			}
		default:
			m.Anonymous += kib << 10
			if inFile { // a copy that the process has changed
				m.Mapped -= kib << 10
			}
		}
	}
	return m, nil
}
