-- Neovim with nvim-dap: entry, breakpoint, step, back; what happens is written to a file.
vim.opt.rtp:prepend(os.getenv('MFMASIM_NVIM_DAP'))
local dap = require('dap')
dap.adapters.mfmasim = { type = 'executable', command = 'python', args = {'-m', 'mfmasim', 'debug', '--dap'} }
local source = os.getenv('DEBUG_SOURCE')
vim.cmd('edit ' .. source)
local out = io.open(os.getenv('DEBUG_OUT'), 'w')
local function note(...) out:write(table.concat({...}, ' ') .. '\n'); out:flush() end
local stops = 0
dap.listeners.after.event_stopped['t'] = function(session, body)
  stops = stops + 1
  note('stopped', body.reason, body.description or '')
end
local steps = {
  function() dap.continue() end,
  function() dap.step_into() end,
  function() dap.step_back() end,
  function() dap.reverse_continue() end,
}
local n = 0
dap.listeners.after.stackTrace['t'] = function(session, err, body)
  if not body then return end
  local f = body.stackFrames[1]
  note('line', f.name, tostring(f.line))
  n = n + 1
  local mine = n
  vim.defer_fn(function()
    if steps[mine] then steps[mine]() else
      session:request('evaluate', {expression='blockDim.x', context='watch', frameId=f.id}, function(e, r)
        note('value', r and r.result or tostring(e and e.message))
        dap.terminate()
        vim.defer_fn(function() vim.cmd('qa!') end, 500)
      end)
    end
  end, 300)
end
vim.fn.cursor(31, 1)
dap.toggle_breakpoint()
dap.run({ type='mfmasim', request='launch', name='t', target={source, 'gemm'}, arch='gfx942', flag={'-O1'},
  arg={'a=f16:32x32=range','b=f16:32x32=range','c=f32:32x32=0'} })
