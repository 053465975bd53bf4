package target

import (
	"time"

	"hippocampus/cmd/bench/measure"
)

// Process is the server's process.
func (s *Server) Process() measure.Process { return measure.Process(s.cmd.Process.Pid) }

// CPU is the processor time that the server has used so far.
func (s *Server) CPU() (time.Duration, error) { return s.Process().CPU() }

// Memory is what the server has in memory.
func (s *Server) Memory() (measure.Memory, error) { return s.Process().Memory() }
