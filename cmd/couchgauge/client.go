package main

import (
	"context"
	"runtime"

	"couchgauge/results"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/host"
	"github.com/shirou/gopsutil/v4/load"
	"github.com/shirou/gopsutil/v4/mem"
)

// describeClient is this machine; what the system does not tell stays empty.
func describeClient(ctx context.Context) results.Client {
	c := results.Client{
		Go:   runtime.Version(),
		OS:   runtime.GOOS + "/" + runtime.GOARCH,
		CPUs: runtime.NumCPU(),
	}
	if h, err := host.InfoWithContext(ctx); err == nil {
		c.OS = h.Platform + " " + h.PlatformVersion + " " + runtime.GOARCH
		c.Kernel = h.KernelVersion
	}
	if infos, err := cpu.InfoWithContext(ctx); err == nil && len(infos) > 0 {
		c.CPU = infos[0].ModelName
	}
	if l, err := load.AvgWithContext(ctx); err == nil {
		c.Load1 = l.Load1
	}
	if m, err := mem.VirtualMemoryWithContext(ctx); err == nil {
		c.Memory = int64(m.Total)
	}
	return c
}
