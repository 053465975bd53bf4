package target

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of times in /proc, a hundredth of a second on every Linux that Go supports.
const tick = time.Second / 100

// CPU is the processor time that the server has used so far.
func (s *Server) CPU() (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("this system does not tell a process' times: %w", err)
	}
	// The command's name, in brackets, may contain any character: fields are counted from its end.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	user, err := strconv.ParseInt(fields[11], 10, 64)
	if err != nil {
		return 0, err
	}
	system, err := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * tick, err
}

// Resident is the resident memory of the server, in bytes.
func (s *Server) Resident() (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("this system does not tell a process' memory: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			var kib int64
			if _, err := fmt.Sscan(value, &kib); err != nil {
				return 0, err
			}
			return kib << 10, nil
		}
	}
	return 0, fmt.Errorf("/proc tells no VmRSS")
}

// Idle is the total time that the machine's cores have been idle so far. Waiting for a
// disk does not count as idle.
func Idle() (time.Duration, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, fmt.Errorf("this system does not tell the machine's times: %w", err)
	}
	var user, nice, system, idle int64
	if _, err := fmt.Sscanf(string(text), "cpu %d %d %d %d", &user, &nice, &system, &idle); err != nil {
		return 0, fmt.Errorf("read the machine's times: %w", err)
	}
	return time.Duration(idle) * tick, nil
}
