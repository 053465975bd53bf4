package target

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of times in /proc: every Linux that Go runs on has 100 a second.
const tick = time.Second / 100

// CPU is the processor time that the server has used so far.
func (s *Server) CPU() (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("this system does not tell a process' times: %w", err)
	}
	// The command's name, in brackets, may hold anything: count from its end.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	user, err := strconv.ParseInt(fields[11], 10, 64)
	if err != nil {
		return 0, err
	}
	system, err := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * tick, err
}

// Resident is the memory that the server holds, in bytes.
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

// Idle is for how long the machine's cores have had nothing to do so far, all
// of them together. What waits for a disk has something to do.
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
