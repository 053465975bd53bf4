package measure

import (
	"runtime"
	"time"
)

// Machine describes the machine that the results depend on.
type Machine struct {
	Cores int    `json:"cores"`
	OS    string `json:"os"`
	Go    string `json:"go"`
}

// Tick is the unit of times in /proc, a hundredth of a second on every Linux that Go supports.
const Tick = time.Second / 100

// ThisMachine describes the machine that this process runs on.
func ThisMachine() Machine { return Machine{runtime.NumCPU(), runtime.GOOS, runtime.Version()} }
