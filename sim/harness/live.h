// A running simulation's terminal and network: file descriptors that are polled.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <deque>

#include "frames.h"
#include "uart_sender.h"

// Frames from and to a TAP device or a UNIX datagram socket, one frame a datagram. A socket
// answers the peer that it last heard from.
class LiveNetwork : public FrameSource, public FrameSink {
  public:
    explicit LiveNetwork(int fd);

    void poll();

    bool next(Frame& frame) override;
    int64_t not_before() const override { return frames_.empty() ? never : 0; }
    bool finished() const override { return false; }
    void frame(const generated::FrameOut& header, std::span<const uint8_t> bytes) override;

  private:
    int fd_;
    bool is_socket_;
    sockaddr_un peer_{};
    socklen_t peer_bytes_ = 0;
    std::deque<Frame> frames_;
};

// The first serial port on the standard streams. Ctrl-] ends the run.
class Console {
  public:
    // Ctrl-] ends the simulation if `ends`.
    Console(UartSender& sender, uint32_t bit_q8, bool ends);

    // Takes what was typed; false if the user wants to end.
    bool poll(int64_t cycle);
    void show(uint8_t character);

  private:
    UartSender& sender_;
    uint32_t bit_q8_;
    bool ends_;
    bool input_open_ = true;
};
