#include "remote_bitbang.h"

#if HARNESS_DEBUG

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>

namespace {

// Half a period of TCK: the pins are sampled by the clock of the SoC, TDO follows after 3 cycles.
constexpr int64_t half_tck_cycles = 4;
// Between looks for more: as long as a debugger has just been at it, and later.
constexpr int64_t busy_cycles = 50;
constexpr int64_t idle_cycles = 5000;
// Looks that find nothing before a debugger counts as idle.
constexpr int64_t patience = 400;

[[noreturn]] void fail(const std::string& what) {
    throw std::runtime_error(what + ": " + std::strerror(errno));
}

}  // namespace

RemoteBitbang::RemoteBitbang(Model& model, uint16_t port) : model_(model) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (listener_ < 0) fail("cannot open a socket for the debugger");
    const int on = 1;
    setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    socklen_t bytes = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    if (bind(listener_, generic, bytes) < 0 || listen(listener_, 1) < 0 ||
        getsockname(listener_, generic, &bytes) < 0) {
        fail("cannot listen for the debugger on port " + std::to_string(port));
    }
    std::fprintf(stderr, "jtag: remote_bitbang on port %u\n", ntohs(address.sin_port));
    due_ = 0;
}

RemoteBitbang::~RemoteBitbang() {
    if (peer_ >= 0) close(peer_);
    close(listener_);
}

void RemoteBitbang::fire(int64_t cycle) {
    if (peer_ < 0) accept_peer();
    if (peer_ >= 0 && begin_ == end_) {
        flush();
        if (peer_ >= 0) idle_ = receive() ? 0 : idle_ + 1;
    }
    if (begin_ != end_) {
        due_ = cycle + act(received_[begin_++]);
    } else {
        due_ = cycle + (peer_ >= 0 && idle_ < patience ? busy_cycles : idle_cycles);
    }
}

void RemoteBitbang::accept_peer() {
    peer_ = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (peer_ < 0) return;
    const int on = 1;
    setsockopt(peer_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    begin_ = end_ = answered_ = 0;
    idle_ = 0;
}

bool RemoteBitbang::receive() {
    const ssize_t count = recv(peer_, received_, sizeof received_, 0);
    if (count > 0) {
        begin_ = 0;
        end_ = static_cast<size_t>(count);
        return true;
    }
    if (count == 0 || (errno != EAGAIN && errno != EINTR)) drop();
    return false;
}

void RemoteBitbang::flush() {
    size_t sent = 0;
    while (sent < answered_) {
        const ssize_t count = send(peer_, answers_ + sent, answered_ - sent, MSG_NOSIGNAL);
        if (count > 0) {
            sent += static_cast<size_t>(count);
        } else if (errno == EAGAIN) {
            // A debugger that does not take its answers for so long is gone.
            pollfd waiting{peer_, POLLOUT, 0};
            if (poll(&waiting, 1, 1000) <= 0) return drop();
        } else if (errno != EINTR) {
            return drop();
        }
    }
    answered_ = 0;
}

void RemoteBitbang::drop() {
    close(peer_);
    peer_ = -1;
    begin_ = end_ = answered_ = 0;
}

// Returns after how many cycles the next character counts.
int64_t RemoteBitbang::act(uint8_t character) {
    if (character >= '0' && character <= '7') {
        const uint32_t pins = character - '0';
        model_.set_jtag(pins >> 2 & 1, pins >> 1 & 1, pins & 1);
        return half_tck_cycles;
    }
    if (character == 'R') {
        if (answered_ == sizeof answers_) flush();
        // The peer may be gone by now.
        if (peer_ >= 0) answers_[answered_++] = model_.pins().jtag_tdo ? '1' : '0';
    } else if (character == 'Q') {
        flush();
        if (peer_ >= 0) drop();
    }
    // Lamps ('B', 'b') and resets ('r' to 'u') there are none.
    return 1;
}

#endif
