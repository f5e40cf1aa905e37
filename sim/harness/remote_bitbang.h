// OpenOCD's remote_bitbang protocol: JTAG pins over TCP on the loopback interface. One debugger at
// a time; after one has gone the next may come.
#pragma once

#include "events.h"
#include "model.h"

#if HARNESS_DEBUG

class RemoteBitbang : public Timed {
  public:
    // Listens on a port, 0 for a free one, and says on the standard error stream on which.
    // Throws if that can't be.
    RemoteBitbang(Model& model, uint16_t port);
    ~RemoteBitbang() override;
    RemoteBitbang(const RemoteBitbang&) = delete;
    RemoteBitbang& operator=(const RemoteBitbang&) = delete;

    // Does what one character asks for, or looks for more.
    void fire(int64_t cycle) override;

  private:
    Model& model_;
    int listener_ = -1;
    int peer_ = -1;
    uint8_t received_[4096];
    size_t begin_ = 0, end_ = 0;
    uint8_t answers_[4096];
    size_t answered_ = 0;
    // Looks in a row that found nothing.
    int64_t idle_ = 0;

    void accept_peer();
    bool receive();
    void flush();
    void drop();
    int64_t act(uint8_t character);
};

#endif
