package waystar

import (
	"sync"

	pb "waystar.dev/proto/waystar/v1"
)

const ownMaps = 1024

// ownWrites remembers the versions that changes have led maps to, of so many maps at most. Without a map it is off.
type ownWrites struct {
	mutex sync.Mutex
	byMap map[string]*pb.Version
}

// Keeps the later of two versions of one epoch.
func (o *ownWrites) note(mapID string, version *pb.Version) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	known := o.byMap[mapID]
	isOlder := known.GetEpoch() == version.GetEpoch() && known.GetRevision() >= version.GetRevision()
	if o.byMap == nil || isOlder {
		return
	}
	for other := range o.byMap {
		if known != nil || len(o.byMap) < ownMaps {
			break
		}
		delete(o.byMap, other)
	}
	o.byMap[mapID] = version
}

// Forgets the map, unless a change has led it to another epoch since.
func (o *ownWrites) forget(mapID string, epoch uint64) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if o.byMap[mapID].GetEpoch() == epoch {
		delete(o.byMap, mapID)
	}
}

func (o *ownWrites) of(mapID string) *pb.Version {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.byMap[mapID]
}
